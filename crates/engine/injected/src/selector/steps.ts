// The steps that Rust sends: the JSON form of `engine::Step`.

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

/** A selector that the browser refuses: which engine, which text, and the browser's own words. */
export interface Refusal {
  engine: "css" | "xpath" | "regex";
  text: string;
  message: string;
}

/** Thrown inside a query and turned into a fact at its edge. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Runs what may be refused by the browser. */
export function orRefuse<T>(engine: Refusal["engine"], text: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Refused({ engine, text, message: message.replace(/^Failed to execute '\w+' on '\w+': /, "") });
  }
}
