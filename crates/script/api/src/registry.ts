// The browser context and its pages. `api.entry.ts` sets them, which avoids circular imports.

import type { BrowserContext } from "./context";
import type { Page } from "./page";

interface Registry {
  context: BrowserContext;
  createPage(id: string): Page;
}
export const registry = {} as Registry;

const pages = new Map<string, Page>();

/** Returns all pages for which an object exists. */
export const knownPages = () => [...pages.values()];

/** Returns the page with this id, which is always the same object. */
export const pageOf = (id: string): Page => {
  const known = pages.get(id) ?? registry.createPage(id);
  pages.set(id, known);
  return known;
};
