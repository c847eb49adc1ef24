// The states and properties of an element in snapshots: https://www.w3.org/TR/wai-aria-1.2/#state_prop_def
// and https://www.w3.org/TR/html-aam-1.0/#html-attribute-state-and-property-mappings.

import { isHtml, inputOf, parentOf, rootOf } from "../dom";
import type { Seen } from "../seen";
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
const INVALID = roles(
  "application checkbox columnheader combobox gridcell listbox radiogroup rowheader searchbox slider spinbutton switch textbox tree treegrid",
);
const LEVEL = roles("heading listitem row treeitem");
const READONLY = roles(
  "checkbox columnheader combobox grid gridcell listbox radiogroup rowheader searchbox slider spinbutton switch textbox treegrid",
);
const SELECTED = roles("columnheader gridcell option row rowheader tab treeitem");

const STATEFUL = new Set(["button", ...CHECKED, ...DISABLED, ...EXPANDED, ...INVALID, ...LEVEL, ...SELECTED]);

/** Returns whether elements of a role can have any of these states. */
export function isStateful(role: string): boolean {
  return STATEFUL.has(role);
}

const has = (set: Set<string>, it: Seen): boolean => set.has(roleOf(it) ?? "");

/**
 * Returns the value of an attribute in lower case, because ARIA tokens are case-insensitive.
 * https://www.w3.org/TR/html-aria/#case-sensitivity
 */
const token = (it: Seen, attribute: string): string => it.attribute(attribute)?.trim().toLowerCase() ?? "";

function tristate(it: Seen, attribute: string): boolean | "mixed" {
  const value = token(it, attribute);
  return value === "true" ? true : value === "mixed" ? "mixed" : false;
}

/** Returns whether the element is checked; undefined if its role does not support `aria-checked`. */
export function checkedState(it: Seen): boolean | "mixed" | undefined {
  const e = it.element as HTMLInputElement;
  // These roles do not support `mixed`.
  const hasTwoStates = /^(radio|menuitemradio|switch)$/.test(roleOf(it) ?? "");
  if (isHtml(it, "input") && /^(checkbox|radio)$/.test(e.type)) {
    return e.indeterminate && e.type === "checkbox" && !hasTwoStates ? "mixed" : e.checked;
  }
  if (!has(CHECKED, it)) return undefined;
  const checked = tristate(it, "aria-checked");
  return checked === "mixed" && hasTwoStates ? false : checked;
}

/** Returns whether the element is disabled: natively, or by `aria-disabled` of the element or an ancestor. */
export function isDisabled(it: Seen): boolean {
  return isNativelyDisabled(it) || (has(DISABLED, it) && isAriaDisabled(it));
}

function isAriaDisabled(it: Seen): boolean {
  if (it.disabled === undefined) {
    const value = token(it, "aria-disabled");
    const parent = value === "true" || value === "false" ? null : parentOf(it);
    it.disabled = value === "true" || (!!parent && isAriaDisabled(parent));
  }
  return it.disabled;
}

/** Returns whether the element is expanded; undefined if it does not have that state. */
export function expandedState(it: Seen): boolean | undefined {
  if (it.tag === "details") return (it.element as HTMLDetailsElement).open;
  if (!it.attributeNames.length || !has(EXPANDED, it)) return undefined;
  const value = token(it, "aria-expanded");
  return value === "true" || value === "false" ? value === "true" : popoverState(it);
}

/** Returns whether the popover of a button is open; undefined if the button has none. https://w3c.github.io/html-aam/#att-popovertarget */
function popoverState(it: Seen): boolean | undefined {
  const id = it.attribute("popovertarget") ?? (/-popover$/.test(token(it, "command")) ? it.attribute("commandfor") : null);
  const popover = id && /^(button|input)$/.test(it.tag) ? rootOf(it).getElementById(id) : null;
  if (!popover?.hasAttribute("popover") || popover.contains(it.element)) return undefined;
  return popover.matches(":popover-open");
}

const HEADINGS = new Map([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]));

/** Returns the level of a heading, a list item, a row or a tree item; 0 if there is none. */
export function levelOf(it: Seen): number {
  if (!has(LEVEL, it)) return 0;
  const level = Number(it.attribute("aria-level"));
  if (Number.isInteger(level) && level >= 1) return level;
  // https://www.w3.org/TR/wai-aria-1.2/#heading
  return roleOf(it) === "heading" ? (HEADINGS.get(it.tag) ?? 2) : 0;
}

/** Returns whether a toggle button is pressed; undefined for other elements. */
export function pressedState(it: Seen): boolean | "mixed" | undefined {
  return /^(true|false|mixed)$/.test(token(it, "aria-pressed")) && roleOf(it) === "button" ? tristate(it, "aria-pressed") : undefined;
}

/** Returns whether the element is selected; undefined if its role does not support `aria-selected`. */
export function selectedState(it: Seen): boolean | undefined {
  if (isHtml(it, "option")) return (it.element as HTMLOptionElement).selected;
  return has(SELECTED, it) ? tristate(it, "aria-selected") === true : undefined;
}

const SUPPORTED = { checked: CHECKED, expanded: EXPANDED, pressed: new Set(["button"]), selected: SELECTED };

/** Returns whether an attribute says that the element has a state, which its role does not support. */
export function hasUnsupported(it: Seen, state: keyof typeof SUPPORTED): boolean {
  return it.has(`aria-${state}`) && token(it, `aria-${state}`) === "true" && !has(SUPPORTED[state], it);
}

const RANGES = roles("meter progressbar scrollbar separator slider spinbutton");

/** Returns the value of a range that is no field; empty if it has none. https://www.w3.org/TR/wai-aria-1.2/#aria-valuetext */
export function rangeValue(it: Seen): string {
  if (!has(RANGES, it)) return "";
  if (isHtml(it, "progress") || isHtml(it, "meter")) return it.has("value") ? String((it.element as HTMLProgressElement).value) : "";
  return it.attribute("aria-valuetext")?.trim() || it.attribute("aria-valuenow")?.trim() || "";
}

/** Returns the value of `aria-invalid`; without the attribute, whether the value violates `pattern` or `required`. */
export function invalidState(it: Seen): boolean | "grammar" | "spelling" {
  if (!it.attributeNames.length || !has(INVALID, it)) return false;
  const value = token(it, "aria-invalid");
  if (value) return value === "grammar" || value === "spelling" ? value : value !== "false";
  const e = it.element;
  // https://w3c.github.io/html-aam/#att-pattern and #att-required
  return (it.has("pattern") && (e as HTMLInputElement).validity?.patternMismatch) || (it.has("required") && e.matches(":user-invalid"));
}

/** Returns whether the value is read-only; undefined if the element is not editable. */
export function readonlyState(it: Seen): boolean | undefined {
  const field = inputOf(it);
  if (field) return field.readOnly || token(it, "aria-readonly") === "true";
  if (it.tag === "select") return it.has("readonly");
  if (has(READONLY, it)) return token(it, "aria-readonly") === "true";
  return (it.element as HTMLElement).isContentEditable ? false : undefined;
}
