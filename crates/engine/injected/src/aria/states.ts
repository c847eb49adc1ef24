// The states and properties of an element that a reader of the page is told of.

import { attributeOf, cached, flatParent, hasAttribute, tagOf } from "../dom";
import { isNativelyDisabled, roleOf } from "./roles";

const roles = (s: string): Set<string> => new Set(s.split(" "));

const CHECKED = roles("checkbox menuitemcheckbox menuitemradio option radio switch treeitem");
const DISABLED = roles(
  "application button checkbox columnheader combobox composite grid gridcell group input link listbox menu menubar menuitem menuitemcheckbox " +
    "menuitemradio option radio radiogroup row rowheader scrollbar searchbox select separator slider spinbutton switch tab tablist textbox toolbar tree treegrid treeitem",
);
const EXPANDED = roles(
  "application button checkbox columnheader combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio row rowheader switch tab treeitem",
);
const INVALID = roles("application checkbox columnheader combobox gridcell listbox radiogroup rowheader searchbox slider spinbutton switch textbox tree treegrid");
const LEVEL = roles("heading listitem row treeitem");
const READONLY = roles("checkbox columnheader combobox grid gridcell listbox radiogroup rowheader searchbox slider spinbutton switch textbox treegrid");
const SELECTED = roles("columnheader gridcell option row rowheader tab treeitem");

const STATEFUL = new Set(["button", ...CHECKED, ...DISABLED, ...EXPANDED, ...INVALID, ...LEVEL, ...SELECTED]);

/** Whether elements of the role may have a state at all. */
export function isStateful(role: string): boolean {
  return STATEFUL.has(role);
}

const has = (set: Set<string>, e: Element): boolean => set.has(roleOf(e) ?? "");

function tristate(e: Element, attribute: string): boolean | "mixed" {
  const value = attributeOf(e, attribute);
  return value === "true" ? true : value === "mixed" ? "mixed" : false;
}

/** Ticked or not; undefined for what cannot be ticked. */
export function checkedOf(e: Element): boolean | "mixed" | undefined {
  if (tagOf(e) === "input" && e instanceof HTMLInputElement && /^(checkbox|radio)$/.test(e.type)) return e.indeterminate && e.type === "checkbox" ? "mixed" : e.checked;
  if (!has(CHECKED, e)) return undefined;
  const checked = tristate(e, "aria-checked");
  // Only what has three states can be mixed.
  return checked === "mixed" && /^(radio|menuitemradio|switch)$/.test(roleOf(e) ?? "") ? false : checked;
}

/** Disabled by its own attribute, its fieldset, or `aria-disabled` here or further up. */
export const disabledOf = (e: Element): boolean => isNativelyDisabled(e) || (has(DISABLED, e) && isAriaDisabled(e));

const isAriaDisabled: (e: Element) => boolean = cached((e) => {
  const value = attributeOf(e, "aria-disabled");
  if (value === "true") return true;
  if (value === "false") return false;
  const parent = flatParent(e);
  return !!parent && isAriaDisabled(parent);
});

/** Open or not; undefined for what does not open. */
export function expandedOf(e: Element): boolean | undefined {
  if (tagOf(e) === "details") return (e as HTMLDetailsElement).open;
  const value = has(EXPANDED, e) ? attributeOf(e, "aria-expanded") : null;
  return value === null ? undefined : value === "true";
}

/** The level of a heading or of an item in a tree, 0 where there is none. */
export function levelOf(e: Element): number {
  if (!has(LEVEL, e)) return 0;
  const native = /^h([1-6])$/.exec(tagOf(e));
  const level = Number(native ? native[1] : attributeOf(e, "aria-level"));
  return Number.isInteger(level) && level >= 1 ? level : 0;
}

/** Pressed or not; undefined for what is no toggle button. */
export function pressedOf(e: Element): boolean | "mixed" | undefined {
  if (roleOf(e) !== "button" || !hasAttribute(e, "aria-pressed")) return undefined;
  return tristate(e, "aria-pressed");
}

/** Selected or not; undefined for what cannot be selected. */
export function selectedOf(e: Element): boolean | undefined {
  if (tagOf(e) === "option" && e instanceof HTMLOptionElement) return e.selected;
  return has(SELECTED, e) ? tristate(e, "aria-selected") === true : undefined;
}

/** What `aria-invalid` says: true, or the kind of mistake. */
export function invalidOf(e: Element): boolean | "grammar" | "spelling" {
  const value = has(INVALID, e) ? attributeOf(e, "aria-invalid")?.trim() : undefined;
  if (!value || value === "false") return false;
  return value === "grammar" || value === "spelling" ? value : true;
}

/** Whether the value can be read but not changed; undefined where the question makes no sense. */
export function readonlyOf(e: Element): boolean | undefined {
  if (e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement) return e.readOnly || attributeOf(e, "aria-readonly") === "true";
  if (tagOf(e) === "select") return hasAttribute(e, "readonly");
  if (has(READONLY, e)) return attributeOf(e, "aria-readonly") === "true";
  return (e as HTMLElement).isContentEditable ? false : undefined;
}
