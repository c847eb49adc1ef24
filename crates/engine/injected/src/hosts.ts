// The elements that may be hosts of closed shadow roots, which the engine asks the browser for.

import { isVisible, shadowRootOf } from "./dom";
import { keep, type Handle } from "./handles";
import { hasReports } from "./interactive";
import type { Seen } from "./seen";

/** The elements that were reported as possible hosts of closed shadow roots. */
const reportedHosts = new WeakSet<Element>();
let hosts: Handle[] = [];
/** The maximum number of such elements for each snapshot, and the minimum size of their boxes, in CSS pixels. */
const MAX_HOSTS = 20;
/** The maximum number of those that are no custom elements, for each document. */
const MAX_PLAIN_HOSTS = 20;
let plainHosts = 0;
const MIN_HOST_SIZE = 8;

/** Records an element that is larger than its content explains, because it may be the host of a closed shadow root. */
export function recordHost(it: Seen): void {
  if (hosts.length >= MAX_HOSTS || !hasReports() || shadowRootOf(it) || reportedHosts.has(it.element) || !isVisible(it)) return;
  const [, , width = 0, height = 0] = it.box ?? [];
  if (width < MIN_HOST_SIZE || height < MIN_HOST_SIZE || (!it.tag.includes("-") && plainHosts++ >= MAX_PLAIN_HOSTS)) return;
  reportedHosts.add(it.element);
  hosts.push(keep(it.element));
}

/** Returns the elements of the last snapshot that may be hosts of closed shadow roots, each once. */
export function takeHosts(): Handle[] | undefined {
  const taken = hosts;
  hosts = [];
  return taken.length ? taken : undefined;
}
