// The role and the name of an element in snapshots. They are those of the specifications, except where these keep an element from being
// recognized.

import { authorNameOf, fullNameOf, nameByVisibleLabels, nameOf, NAMELESS } from "./aria/names";
import { impliedRole, isHidden, isPresentational, isSummary, NAME_PROHIBITED, roleOf } from "./aria/roles";
import { isVisible } from "./dom";
import { drawingOf } from "./drawn";
import { actionOf, isEditingHost, isPlayer } from "./interactive";
import { setReadsInternals, type Name, type Seen } from "./seen";

let complete = false;

/** Sets whether snapshots show everything that a person can act on, also where `@playwright/mcp` does not. */
export function setComplete(on: boolean): void {
  complete = on;
  setReadsInternals(on);
}

export function isComplete(): boolean {
  return complete;
}

/** The roles of regions whose changes assistive technology announces. */
const LIVE = /^(alert|log|marquee|status|timer)$/;

/** Returns the role in snapshots. An editing host without a role is a text box, and what a person can act on is not presentational. */
export function shownRole(it: Seen): string {
  if (isFrame(it)) return "iframe";
  const written = roleOf(it) ?? "generic";
  // A field stays one if its author wrote the role of a region, such as `alert`.
  const role = complete && /^(input|select|textarea)$/.test(it.tag) && LIVE.test(written) ? (impliedRole(it) ?? written) : written;
  if (!complete || (role !== "generic" && !isPresentational(role))) return role;
  return isEditingHost(it) ? "textbox" : actionOf(it) ? "generic" : role;
}

/** Returns the name in snapshots: the accessible name, else that of the author for a role that prohibits names. */
export function shownName(it: Seen): Name {
  if (complete && isHidden(it) && drawingOf(it)) return it.tag === "area" ? fullNameOf(it) : nameByVisibleLabels(it);
  const name = nameOf(it);
  if (complete && isOnlyIcons(name.text)) return titleOr(name, it);
  if (!it.attributeNames.length) return name;
  if (isHidden(it) && !(complete && isVisible(it))) return name;
  const role = shownRole(it);
  if (name.text && (roleOf(it) || !complete || isSummary(it))) return name;
  if (role === "generic" || role === "textbox") {
    const hasLabel = it.has("aria-label") || it.has("aria-labelledby") || it.has("aria-labeledby");
    // A tooltip of an element that does nothing is not visible.
    const own = hasLabel || !complete || (it.has("title") && actionOf(it)) ? authorNameOf(it) : NAMELESS;
    return !own.text && complete && isPlayer(it) ? { text: it.attribute("type") ?? it.tag, sources: [it] } : own;
  }
  if (complete && NAME_PROHIBITED.has(role) && actionOf(it)) return authorNameOf(it);
  // What only assistive technology does not perceive has a name for a person.
  return complete && isHidden(it) && !name.text && !NAME_PROHIBITED.has(role) ? fullNameOf(it) : name;
}

/** Returns whether a text consists of symbols, such as emoji, or of characters for private use, with which fonts show icons. */
function isOnlyIcons(text: string): boolean {
  return /^(?:[\p{Co}\p{S}\p{P}\s]|\u200d|\ufe0f)+$/u.test(text);
}

/** Returns the tooltip as the name of an element that has one. */
function titleOr(name: Name, it: Seen): Name {
  const title = it.attribute("title")?.trim();
  return title ? { text: title, sources: [it] } : name;
}

export function isFrame({ tag }: Seen): boolean {
  return tag === "iframe" || tag === "frame";
}
