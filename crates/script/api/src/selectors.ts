// The methods that create locators. A locator is a locator expression, which the server parses; each method appends a step.

import { json } from "./calls";
import type { FrameLocator, Locator } from "./locator";
import { methods, type Options, options } from "./offer";
import { isLocator } from "./source";
import { EXPRESSION, FIND } from "./symbols";

export const quote = (text: unknown) => `'${(json(String(text)) as string).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;

const literal = (value: any): string => {
  if (value instanceof RegExp) return String(value);
  if (isLocator(value)) return value[EXPRESSION];
  return typeof value === "string" ? quote(value) : String(value);
};

/** Returns options as source text, such as `, { name: 'Go', exact: true }`; empty without options. */
const suffix = (api: string, given: Options | undefined, known: string[]) => {
  const entries = Object.entries(options(api, given, ...known));
  return entries.length ? `, { ${entries.map(([key, value]) => `${key}: ${literal(value)}`).join(", ")} }` : "";
};

const FILTERS = ["has", "hasNot", "hasText", "hasNotText", "visible"];
const ROLE = ["checked", "description", "disabled", "exact", "expanded", "includeHidden", "level", "name", "pressed", "selected"];

/** Returns the conditions of a filter as source text; empty without conditions. */
export const filterConditions = (given?: Options) => suffix("locator.filter", given, FILTERS).slice(2);

type Text = string | RegExp;

/** The methods of pages, frames, locators and frame locators that return locators. `[FIND]` appends a step to the expression. */
export const FINDERS = methods<{ [FIND](step: string): Locator }>()({
  locator(selector: string | Locator, given?: Options): Locator {
    const start = isLocator(selector) ? selector[EXPRESSION] : quote(selector);
    return this[FIND](`locator(${start}${suffix("locator", given, FILTERS)})`);
  },
  getByRole(role: string, given?: Options): Locator {
    return this[FIND](`getByRole(${quote(role)}${suffix("getByRole", given, ROLE)})`);
  },
  getByText(text: Text, given?: Options): Locator {
    return this[FIND](`getByText(${literal(text)}${suffix("getByText", given, ["exact"])})`);
  },
  getByLabel(text: Text, given?: Options): Locator {
    return this[FIND](`getByLabel(${literal(text)}${suffix("getByLabel", given, ["exact"])})`);
  },
  getByPlaceholder(text: Text, given?: Options): Locator {
    return this[FIND](`getByPlaceholder(${literal(text)}${suffix("getByPlaceholder", given, ["exact"])})`);
  },
  getByAltText(text: Text, given?: Options): Locator {
    return this[FIND](`getByAltText(${literal(text)}${suffix("getByAltText", given, ["exact"])})`);
  },
  getByTitle(text: Text, given?: Options): Locator {
    return this[FIND](`getByTitle(${literal(text)}${suffix("getByTitle", given, ["exact"])})`);
  },
  getByTestId(id: Text): Locator {
    return this[FIND](`getByTestId(${literal(id)})`);
  },
  frameLocator(selector: string): FrameLocator {
    return this.locator(selector).contentFrame();
  },
});
export type Finders = typeof FINDERS;
