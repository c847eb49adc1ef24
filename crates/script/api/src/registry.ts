// The context and its pages. The entry fills this in, so that the files that need them import no classes that need these files.

import type { BrowserContext } from "./context";
import type { Page } from "./page";

interface Registry {
  context: BrowserContext;
  createPage(id: string): Page;
}
export const registry = {} as Registry;

const pages = new Map<string, Page>();

/** All pages that the code has had to do with. */
export const knownPages = () => [...pages.values()];

/** The page of an id, the same object each time. */
export const pageOf = (id: string): Page => {
  const known = pages.get(id) ?? registry.createPage(id);
  pages.set(id, known);
  return known;
};
