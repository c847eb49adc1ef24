// The core in the same world, as far as the functions of this bundle use it.

import type { Handle } from "../handles";
import type { Step } from "../selector/steps";

export interface Core {
  hasDevtools?: boolean;
  call(name: string, argument: unknown): string | Promise<string>;
  element(handle: Handle): Element | undefined;
  handle(e: Element): Handle;
  locator(question: { handle: Handle; testIdAttribute: string }): Step[] | null;
}

/** Returns the core of this document. */
export function core(): Core {
  return (globalThis as unknown as { __playhouseCore: Core }).__playhouseCore;
}
