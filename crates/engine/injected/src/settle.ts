// Whether the document has come to rest after an action: sees every change from before the action on, and says when it is over.

import { controlOf, frame, isInside } from "./states";

/** How many separate changes make a node a spinner: it is no effect then, nor does it disturb the peace. */
const TICKS = 8;
const BETWEEN_TICKS = 10;
const CHECK_EVERY = 10;
/** A watch that nobody ends costs the page no more than this. */
const LONGEST = 60_000;
/** How long a frame may take where something was animated, so that one is certain to come. */
const LATEST_FRAME = 500;
const LINGER = 5_000;
const UNSEEN = /color|shadow|background|filter|outline|fill|stroke|decoration|cursor|^(offset|computedOffset|easing|composite)$/i;
/** As many, while nobody acts, make it a clock, for good. */
const IDLE_TICKS = 4;
/** Nobody acts once so much time has passed after the last look. */
const IDLE_AFTER = 200;
const CONTROL = "a, button, input, label, option, summary, [role=button], [role=link], [role=menuitem], [role=option], [role=switch], [role=tab]";
const NOTICED = ["change", "toggle", "fullscreenchange", "scroll", "focusin"];

interface Watch {
  /** Animations that ran already. Times do not tell: those of a frame begin with it, which may be before the action. */
  before: Set<Animation>;
  /** When the last change was seen; 0 before the first. */
  changed: number;
  /** The same, without what may turn out to be the ticking of a node. */
  certain: number;
  observer: MutationObserver;
  ticks: Map<Node, { count: number; at: number }>;
  spinning: Set<Node>;
  /** From here on the action is over; what changes does so by itself. */
  idleFrom: number;
}

let current: Watch | undefined;
let expiry: ReturnType<typeof setTimeout> | undefined;
/** Nodes that change while nobody acts; remembered for the life of the document. */
const restless = new WeakSet<Node>();
const idleTicks = new WeakMap<Node, { count: number; at: number }>();

/** Begins to watch for the effects of an action. */
export function watch(): null {
  unwatch();
  const observer = new MutationObserver((records) => note(records));
  current = { before: new Set(document.getAnimations()), changed: 0, certain: 0, observer, ticks: new Map(), spinning: new Set(), idleFrom: Infinity };
  observe(document);
  expire(LONGEST);
  for (const type of NOTICED) addEventListener(type, heard, { capture: true, passive: true });
  return null;
}

function unwatch(): void {
  clearTimeout(expiry);
  current?.observer.disconnect();
  current = undefined;
  for (const type of NOTICED) removeEventListener(type, heard, { capture: true });
}

function expire(after: number): void {
  clearTimeout(expiry);
  expiry = setTimeout(unwatch, after);
}

export interface Rest {
  /** How long nothing may change, in ms. */
  quiet: number;
  /** How long to look for a first change. */
  patience: number;
  /** When to give up a document that never rests. */
  limit: number;
  /** Something was seen elsewhere: rest is counted from now on. */
  effect: boolean;
}

/** Resolves when the document is at rest: two frames were drawn, and nothing changed for a while. */
export async function settled({ quiet, patience, limit, effect }: Rest): Promise<{ seen: boolean; quiet: boolean }> {
  const started = performance.now();
  if (current) current.idleFrom = Infinity;
  if (limit === 0 && !effect) {
    // What was queued by then has run; a page that shows nothing yet is not waited for.
    await task();
    if (!current?.changed) return { seen: false, quiet: true };
  }
  await frame();
  await frame();
  for (let ran = false; ; ) {
    const runs = finishing();
    if (runs) bump();
    // Its time is over, but what the page does about that comes with the next frame.
    else if (ran) await frame(LATEST_FRAME);
    ran = runs;
    const now = performance.now();
    const changed = current?.changed ?? 0;
    const seen = effect || changed > 0;
    const since = effect ? Math.max(changed, started) : changed;
    const rests = seen ? now - since >= quiet : now - started >= patience;
    if (rests || now - started >= limit) {
      if (current) current.idleFrom = now + IDLE_AFTER;
      expire(LINGER);
      return { seen, quiet: rests };
    }
    const wanted = seen ? quiet - (now - since) : CHECK_EVERY;
    await pause(Math.min(Math.max(wanted, 1), CHECK_EVERY));
  }
}

function bump(): void {
  if (current) current.changed = current.certain = performance.now();
}

function heard({ type, target }: Event): void {
  if (type === "focusin") {
    // To be ready for text is what a click on a field is for, unless it opens a list of its own.
    if (target instanceof Element && takesText(target) && !target.matches("[list], [role], [aria-haspopup], [aria-expanded]")) bump();
    return;
  }
  // We scroll ourselves to reach an element, and leaving a text field commits what was typed before: neither follows from the action.
  const ours = type === "scroll" || (type === "change" && target instanceof Element && takesText(target));
  if (!ours || current?.changed) bump();
}

function note(records: MutationRecord[]): void {
  const watch = current;
  if (!watch) return;
  const changed = new Set<Node>();
  let certain = false;
  for (const record of records) {
    for (const node of record.addedNodes) if (node instanceof Element) pierce(node);
    const { target } = record;
    // A script keeps a text field in step with what is typed into it: that is the action itself.
    if (record.type === "attributes" && takesText(target as Element)) continue;
    if (changesElements(record)) certain = true;
    else if (!restless.has(target) && !watch.spinning.has(target)) changed.add(target);
  }
  if (certain) bump();
  for (const node of changed) tick(watch, node);
}

/** A change of a node's text or attributes: an effect, unless it goes on and on. */
function tick(watch: Watch, node: Node): void {
  const now = performance.now();
  const idle = now >= watch.idleFrom;
  const known = idle ? idleTicks : watch.ticks;
  const before = known.get(node);
  const apart = !before || now - before.at >= BETWEEN_TICKS;
  const count = (before?.count ?? 0) + Number(apart);
  known.set(node, { count, at: apart ? now : before.at });
  if (idle) {
    if (count >= IDLE_TICKS) restless.add(node);
  } else if (count >= TICKS) {
    watch.spinning.add(node);
    watch.ticks.delete(node);
    // It was no effect after all; what the other nodes did is.
    watch.changed = Math.max(watch.certain, ...[...watch.ticks.values()].map(({ at }) => at));
  } else {
    watch.changed = now;
  }
}

function changesElements({ addedNodes, removedNodes }: MutationRecord): boolean {
  return [...addedNodes, ...removedNodes].some((node) => node instanceof Element);
}

function takesText(e: Element): boolean {
  return e instanceof HTMLTextAreaElement || (e instanceof HTMLInputElement && !/^(checkbox|radio|range|color|file|date|time|month|week|datetime-local)$/.test(e.type));
}

function observe(root: Document | ShadowRoot): void {
  current?.observer.observe(root, { subtree: true, childList: true, "attributes": true, characterData: true });
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const inner = (node as Element).shadowRoot;
    if (inner) observe(inner);
  }
}

function pierce(added: Element): void {
  if (added.shadowRoot) observe(added.shadowRoot);
  for (const inner of added.querySelectorAll("*")) if (inner.shadowRoot) observe(inner.shadowRoot);
}

/** Whether an animation that the action started, that will end, and that changes what can be seen or pointed at is still running. */
function finishing(): boolean {
  const watch = current;
  if (!watch) return false;
  let pointed: Element | undefined;
  return document.getAnimations().some((animation) => {
    const { effect } = animation;
    if (animation.playState !== "running" || !(effect instanceof KeyframeEffect)) return false;
    if (watch.before.has(animation)) return false;
    if (!Number.isFinite(Number(effect.getComputedTiming().endTime))) return false;
    // A button that swells or ripples under the pointer does so for its own sake.
    pointed ??= controlOf([...document.querySelectorAll(":hover")].at(-1) ?? document.documentElement);
    if (effect.target && pointed.matches(CONTROL) && isInside(effect.target, pointed)) return false;
    return effect.getKeyframes().some((keyframe) => Object.keys(keyframe).some((property) => !UNSEEN.test(property)));
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** Resolves after the tasks that are queued by now. */
function task(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((done) => {
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

/** Resolves at the next change of the document, once per frame at most, or after `limit` ms. */
export function nextChange({ limit }: { limit: number }): Promise<null> {
  return new Promise((done) => {
    const observer = new MutationObserver(() => void frame().then(end));
    const timer = setTimeout(end, limit);
    function end(): void {
      observer.disconnect();
      clearTimeout(timer);
      done(null);
    }
    observer.observe(document, { subtree: true, childList: true, "attributes": true, characterData: true });
  });
}
