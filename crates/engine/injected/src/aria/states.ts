// The states and properties of an element in snapshots: https://www.w3.org/TR/wai-aria-1.2/#state_prop_def
// and https://www.w3.org/TR/html-aam-1.0/#html-attribute-state-and-property-mappings.

import { itIsHtml, itsField, itsParent, itsRoot } from "../dom";
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

/** The value of an attribute that takes tokens, whose case does not matter. https://www.w3.org/TR/html-aria/#case-sensitivity */
const token = (it: Seen, attribute: string): string => it.attribute(attribute)?.trim().toLowerCase() ?? "";

function tristate(it: Seen, attribute: string): boolean | "mixed" {
  const value = token(it, attribute);
  return value === "true" ? true : value === "mixed" ? "mixed" : false;
}

/** Ticked or not; undefined for what cannot be ticked. */
export function itsChecked(it: Seen): boolean | "mixed" | undefined {
  const e = it.element as HTMLInputElement;
  // Only what has three states can be mixed.
  const isTwofold = /^(radio|menuitemradio|switch)$/.test(itsRole(it) ?? "");
  if (itIsHtml(it, "input") && /^(checkbox|radio)$/.test(e.type)) {
    return e.indeterminate && e.type === "checkbox" && !isTwofold ? "mixed" : e.checked;
  }
  if (!has(CHECKED, it)) return undefined;
  const checked = tristate(it, "aria-checked");
  return checked === "mixed" && isTwofold ? false : checked;
}

/** Disabled by its own attribute, its fieldset, or `aria-disabled` here or further up. */
export function itIsDisabled(it: Seen): boolean {
  return isNativelyDisabled(it) || (has(DISABLED, it) && isAriaDisabled(it));
}

function isAriaDisabled(it: Seen): boolean {
  if (it.disabled === undefined) {
    const value = token(it, "aria-disabled");
    const parent = value === "true" || value === "false" ? null : itsParent(it);
    it.disabled = value === "true" || (!!parent && isAriaDisabled(parent));
  }
  return it.disabled;
}

/** Open or not; undefined for what does not open. */
export function itsExpanded(it: Seen): boolean | undefined {
  if (it.tag === "details") return (it.element as HTMLDetailsElement).open;
  if (!it.attributeNames.length || !has(EXPANDED, it)) return undefined;
  const value = token(it, "aria-expanded");
  return value === "true" || value === "false" ? value === "true" : itsPopoverOpen(it);
}

/** Whether the popover that a button opens is open. https://w3c.github.io/html-aam/#att-popovertarget */
function itsPopoverOpen(it: Seen): boolean | undefined {
  const id = it.attribute("popovertarget") ?? (/-popover$/.test(token(it, "command")) ? it.attribute("commandfor") : null);
  const popover = id && /^(button|input)$/.test(it.tag) ? itsRoot(it).getElementById(id) : null;
  if (!popover?.hasAttribute("popover") || popover.contains(it.element)) return undefined;
  return popover.matches(":popover-open");
}

const HEADINGS = new Map([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]));

/** The level of a heading or of an item in a tree, 0 where there is none. */
export function itsLevel(it: Seen): number {
  if (!has(LEVEL, it)) return 0;
  const level = Number(it.attribute("aria-level"));
  if (Number.isInteger(level) && level >= 1) return level;
  // https://www.w3.org/TR/wai-aria-1.2/#heading
  return itsRole(it) === "heading" ? (HEADINGS.get(it.tag) ?? 2) : 0;
}

/** Pressed or not; undefined for what is no toggle button. */
export function itsPressed(it: Seen): boolean | "mixed" | undefined {
  return /^(true|false|mixed)$/.test(token(it, "aria-pressed")) && itsRole(it) === "button" ? tristate(it, "aria-pressed") : undefined;
}

/** Selected or not; undefined for what cannot be selected. */
export function itsSelected(it: Seen): boolean | undefined {
  if (itIsHtml(it, "option")) return (it.element as HTMLOptionElement).selected;
  return has(SELECTED, it) ? tristate(it, "aria-selected") === true : undefined;
}

/** What `aria-invalid` says: true, or the kind of mistake; else whether a native field refuses its value. */
export function itsInvalid(it: Seen): boolean | "grammar" | "spelling" {
  if (!it.attributeNames.length || !has(INVALID, it)) return false;
  const value = token(it, "aria-invalid");
  if (value) return value === "grammar" || value === "spelling" ? value : value !== "false";
  const e = it.element;
  // https://w3c.github.io/html-aam/#att-pattern and #att-required
  return (it.has("pattern") && (e as HTMLInputElement).validity?.patternMismatch) || (it.has("required") && e.matches(":user-invalid"));
}

/** Whether the value can be read but not changed; undefined where the question makes no sense. */
export function itsReadonly(it: Seen): boolean | undefined {
  const field = itsField(it);
  if (field) return field.readOnly || token(it, "aria-readonly") === "true";
  if (it.tag === "select") return it.has("readonly");
  if (has(READONLY, it)) return token(it, "aria-readonly") === "true";
  return (it.element as HTMLElement).isContentEditable ? false : undefined;
}
