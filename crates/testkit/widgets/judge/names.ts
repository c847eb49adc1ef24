// Names and states of controls. The names are those of the npm package `dom-accessibility-api`.
import { computeAccessibleName } from "dom-accessibility-api";
import { writtenRole } from "./targets";

export const squash = (text: string) => text.replace(/\s+/g, " ").trim();

/** The accessible name; what an author wrote as the name of an element whose role has none counts, too. */
export function nameOf(element: Element): string {
  const name = squash(computeAccessibleName(element));
  return name || squash(element.getAttribute("aria-label") ?? element.getAttribute("title") ?? "");
}

const SELECTED = new Set(["option", "tab", "gridcell", "row", "treeitem", "columnheader", "rowheader"]);

/** The states that the line of a control must show. */
export function statesOf(element: Element): string[] {
  const states: string[] = [];
  const aria = (name: string) => element.getAttribute(`aria-${name}`);
  const { checked, indeterminate, type } = element as HTMLInputElement;
  if (type === "checkbox" || type === "radio") {
    if (indeterminate) states.push("checked=mixed");
    else if (checked) states.push("checked");
  } else if (/^(checkbox|radio|switch|menuitemcheckbox|menuitemradio|option|treeitem)$/.test(writtenRole(element))) {
    if (aria("checked") === "true") states.push("checked");
    if (aria("checked") === "mixed") states.push("checked=mixed");
  }
  if (aria("pressed") === "true") states.push("pressed");
  if (aria("selected") === "true" && SELECTED.has(writtenRole(element))) states.push("selected");
  if (aria("expanded") === "true") states.push("expanded");
  return states;
}

/** The value of a field that a person can read. */
export function fieldValue(element: Element): string {
  switch (element.localName) {
    case "textarea":
      return squash((element as HTMLTextAreaElement).value);
    case "select":
      return squash([...(element as HTMLSelectElement).selectedOptions].map((option) => option.label).join(" "));
    case "input": {
      const { type, value } = element as HTMLInputElement;
      return /^(checkbox|radio|file|password|image|color|hidden)$/.test(type) ? "" : squash(value);
    }
    default:
      return "";
  }
}
