// The states and properties of an element that a reader of the page is told of.

import { itIsHtml, itsField, itsParent } from "../dom";
import type { Seen } from "../seen";
import { isNativelyDisabled, itsRole } from "./roles";

const roles = (s: string): Set<string> => new Set(s.split(" "));

const CHECKED = roles("checkbox menuitemcheckbox menuitemradio option radio switch treeitem");
const DISABLED = roles(
  "application button checkbox columnheader combobox composite grid gridcell group input link listbox menu menubar menuitem menuitemcheckbox " +
    "menuitemradio option radio radiogroup row rowheader scrollbar searchbox select separator slider spinbutton switch tab tablist textbox toolbar tree treegrid treeitem",
);
const EXPANDED = roles(
  "application button checkbox columnheader combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio row rowheader switch tab treeitem",
);
const INVALID = roles(
  "application checkbox columnheader combobox gridcell listbox radiogroup rowheader searchbox slider spinbutton switch textbox tree treegrid",
);
const LEVEL = roles("heading listitem row treeitem");
const READONLY = roles(
  "checkbox columnheader combobox grid gridcell listbox radiogroup rowheader searchbox slider spinbutton switch textbox treegrid",
);
const SELECTED = roles("columnheader gridcell option row rowheader tab treeitem");

const STATEFUL = new Set(["button", ...CHECKED, ...DISABLED, ...EXPANDED, ...INVALID, ...LEVEL, ...SELECTED]);

/** Whether elements of the role may have a state at all. */
export function isStateful(role: string): boolean {
  return STATEFUL.has(role);
}

const has = (set: Set<string>, it: Seen): boolean => set.has(itsRole(it) ?? "");

function tristate(it: Seen, attribute: string): boolean | "mixed" {
  const value = it.attribute(attribute);
  return value === "true" ? true : value === "mixed" ? "mixed" : false;
}

/** Ticked or not; undefined for what cannot be ticked. */
export function itsChecked(it: Seen): boolean | "mixed" | undefined {
  const e = it.element as HTMLInputElement;
  if (itIsHtml(it, "input") && /^(checkbox|radio)$/.test(e.type)) return e.indeterminate && e.type === "checkbox" ? "mixed" : e.checked;
  if (!has(CHECKED, it)) return undefined;
  const checked = tristate(it, "aria-checked");
  // Only what has three states can be mixed.
  return checked === "mixed" && /^(radio|menuitemradio|switch)$/.test(itsRole(it) ?? "") ? false : checked;
}

/** Disabled by its own attribute, its fieldset, or `aria-disabled` here or further up. */
export function itIsDisabled(it: Seen): boolean {
  return isNativelyDisabled(it) || (has(DISABLED, it) && isAriaDisabled(it));
}

function isAriaDisabled(it: Seen): boolean {
  if (it.disabled === undefined) {
    const value = it.attribute("aria-disabled");
    const parent = value === "true" || value === "false" ? null : itsParent(it);
    it.disabled = value === "true" || (!!parent && isAriaDisabled(parent));
  }
  return it.disabled;
}

/** Open or not; undefined for what does not open. */
export function itsExpanded(it: Seen): boolean | undefined {
  if (it.tag === "details") return (it.element as HTMLDetailsElement).open;
  const value = it.attributeNames.length && has(EXPANDED, it) ? it.attribute("aria-expanded") : null;
  return value === null ? undefined : value === "true";
}

const HEADINGS = new Map([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]));

/** The level of a heading or of an item in a tree, 0 where there is none. */
export function itsLevel(it: Seen): number {
  if (!has(LEVEL, it)) return 0;
  const level = HEADINGS.get(it.tag) ?? Number(it.attribute("aria-level"));
  return Number.isInteger(level) && level >= 1 ? level : 0;
}

/** Pressed or not; undefined for what is no toggle button. */
export function itsPressed(it: Seen): boolean | "mixed" | undefined {
  return it.has("aria-pressed") && itsRole(it) === "button" ? tristate(it, "aria-pressed") : undefined;
}

/** Selected or not; undefined for what cannot be selected. */
export function itsSelected(it: Seen): boolean | undefined {
  if (itIsHtml(it, "option")) return (it.element as HTMLOptionElement).selected;
  return has(SELECTED, it) ? tristate(it, "aria-selected") === true : undefined;
}

/** What `aria-invalid` says: true, or the kind of mistake. */
export function itsInvalid(it: Seen): boolean | "grammar" | "spelling" {
  const value = it.attributeNames.length && has(INVALID, it) ? it.attribute("aria-invalid")?.trim() : undefined;
  if (!value || value === "false") return false;
  return value === "grammar" || value === "spelling" ? value : true;
}

/** Whether the value can be read but not changed; undefined where the question makes no sense. */
export function itsReadonly(it: Seen): boolean | undefined {
  const field = itsField(it);
  if (field) return field.readOnly || it.attribute("aria-readonly") === "true";
  if (it.tag === "select") return it.has("readonly");
  if (has(READONLY, it)) return it.attribute("aria-readonly") === "true";
  return (it.element as HTMLElement).isContentEditable ? false : undefined;
}
