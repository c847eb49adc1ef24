// What the document shows, for waits.

import { isElementVisible, squash } from "./dom";
import { isPassword } from "./passwords";
import { withCaches } from "./seen";
import { everyElement, queryDeep } from "./selector/css";
import { textTest } from "./selector/text";

/** Returns whether the document shows each of the texts: in a visible element, or as the value of a visible field. */
export function shown({ texts }: { texts: string[] }): boolean[] {
  return withCaches(() => {
    const elements = everyElement(document);
    const values = queryDeep(document, "input:not([type=hidden], [type=checkbox], [type=radio]), textarea")
      .filter((field) => !isPassword(field) && isElementVisible(field))
      .map((field) => squash((field as HTMLInputElement).value).toLowerCase());
    return texts.map((text) => {
      const [test, part] = [textTest({ text }, false), squash(text).toLowerCase()];
      return values.some((value) => value.includes(part)) || elements.some((e) => test(e) && isElementVisible(e));
    });
  });
}
