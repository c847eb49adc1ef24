// The steps of a selector, in the JSON format of the Rust type `engine::Step`.

export interface Literal {
  text: string;
  exact?: boolean;
}
export interface RegexText {
  regex: string;
  flags?: string;
}
export type TextMatch = Literal | RegexText;

export interface Compound {
  combinator?: string;
  css?: string;
  tests?: CssTest[];
}
export type Complex = Compound[];
export type CssTest =
  | { test: "is" | "not" | "has"; list: Complex[] }
  | { test: "scope" | "visible" }
  | { test: "hasText"; text: TextMatch }
  | { test: "text"; text: TextMatch; nodes: boolean }
  | { test: "nthMatch"; list: Complex[]; n: number }
  | Layout;

export interface Layout {
  test: "layout";
  side: "rightOf" | "leftOf" | "above" | "below" | "near";
  list: Complex[];
  distance?: number;
}

export interface Css {
  css: string;
  native: boolean;
  list: Complex[];
}

export interface Role {
  role: string;
  name?: TextMatch;
  description?: TextMatch;
  checked?: boolean | "mixed";
  disabled?: boolean;
  expanded?: boolean;
  level?: number;
  pressed?: boolean | "mixed";
  selected?: boolean;
  includeHidden?: boolean;
}

export type Step =
  | ({ engine: "css" } & Css)
  | { engine: "xpath"; expression: string }
  | { engine: "text"; text: TextMatch; nodes?: boolean }
  | ({ engine: "role" } & Role)
  | { engine: "label"; text: TextMatch }
  | { engine: "attribute"; name: string; text: TextMatch }
  | { engine: "testId"; attribute: string; text: TextMatch }
  | { engine: "nth"; index: number }
  | { engine: "visible"; visible: boolean }
  | { engine: "hasText"; text: TextMatch; not?: boolean }
  | { engine: "has"; selector: Step[]; not?: boolean }
  | { engine: "and" | "or"; selector: Step[] };

/** A part of a selector that the browser rejects, and the error message of the browser. */
export interface Rejection {
  engine: "css" | "xpath" | "regex";
  text: string;
  message: string;
}

/** The error that a query throws for a rejected selector. `query` returns it as `error`. */
export class Rejected extends Error {
  constructor(readonly rejection: Rejection) {
    super(rejection.message);
  }
}

/** Calls a function that passes a selector to the browser. If it throws, throws `Rejected`. */
export function orReject<T>(engine: Rejection["engine"], text: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Rejected({ engine, text, message: message.replace(/^Failed to execute '\w+' on '\w+': /, "") });
  }
}
