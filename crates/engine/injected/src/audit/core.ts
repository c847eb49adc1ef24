// The injected script as the audits use it: refs and handles are its own, so they are the same as in snapshots.

import type { Handle } from "../handles";
import type { Described } from "../reading";

interface Core {
  element(handle: Handle): Element | undefined;
  handle(e: Element): Handle;
  describe(question: { handles: Handle[]; marks?: boolean }): Described[];
  audit?: (question: { step: string }) => unknown;
}

export const core = (globalThis as unknown as { __playhouseCore: Core }).__playhouseCore;

/** An element as an answer shows it. */
export interface Shown {
  ref: number;
  role: string;
  name: string;
  tag: string;
  text: string;
}

/** The maximum length of a text that stands for a missing name. */
const MAX_TEXT = 60;

/** Returns an element as an answer shows it; null if it was removed. */
export function shown(e: Element | undefined, marks?: boolean): Shown | null {
  const [it] = e?.isConnected ? core.describe({ handles: [core.handle(e)], ...(marks === undefined ? {} : { marks }) }) : [];
  if (!it) return null;
  const { ref, role, name, tag, text } = it;
  return { ref, role, name, tag, text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text };
}
