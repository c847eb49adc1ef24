// Detects when the effects of an action on the page are complete. Changes are observed from before the action, in the document, its shadow
// roots, and the documents of same-origin frames.

import { observableIn } from "./frames";
import { keep, type Handle } from "./handles";
import { frame } from "./states";
import { recordAdditions } from "./transient";

/** The time without changes after which the page is quiet, in ms: the duration of a frame. */
const QUIET_TIME = 16;
/** The number of separate changes of a node after which it is a spinner. Changes of spinners are ignored. */
const MAX_CHANGES = 8;
/** The minimum time between two separate changes of a node, in ms. */
const CHANGE_INTERVAL = 10;
/** The number of separate changes without an action after which the changes of a node are always ignored, for example of a clock. */
const MAX_IDLE_CHANGES = 4;
/** The time after an action from which on changes are not its effects, in ms. */
const IDLE_TIMEOUT = 200;
/** The time after which the observation ends, in ms: from its start, and from the end of the action. */
const WATCH_TIMEOUT = 60_000;
const IDLE_WATCH_TIMEOUT = 5_000;
/** The timeout of an animation frame of a visible page, in ms. */
const FRAME_TIMEOUT = 500;
/** The properties whose animations are not waited for. */
const IGNORED_PROPERTIES =
  /color|shadow|background|filter|outline|fill|stroke|decoration|cursor|^(offset|computedOffset|easing|composite)$/i;
/** A control under the pointer. */
const HOVERED_CONTROL =
  ":is(a, button, input, label, option, summary, [role=button], [role=link], [role=menuitem], [role=option], [role=switch], [role=tab]):hover";
/** Links that start a download or open another page. */
const OPENING_LINK = "a[href][download], a[href][target=_blank i]";
const FRAMES = /^i?frame$/;

type Tree = Document | ShadowRoot;

interface Watch {
  /** The animations that ran before the action. Start times are not sufficient: they are those of the frame, which can begin earlier. */
  before: Set<Animation>;
  /** The number of changes, and the time of the last one; 0 if there is none. */
  changes: number;
  changed: number;
  observer: MutationObserver;
  trees: Set<Tree>;
  ticks: Map<Node, { count: number; at: number }>;
  spinning: Set<Node>;
  /** The time from which on changes are not effects of the action. */
  idleFrom: number;
  /** The last click on a link that starts a download or opens another page. */
  opening: Event | undefined;
}

let current: Watch | undefined;
let expiry: ReturnType<typeof setTimeout> | undefined;
/** The nodes that change without an action, such as clocks. */
const restless = new WeakSet<Node>();
const idleTicks = new WeakMap<Node, { count: number; at: number }>();

const handles = new WeakMap<Element, Handle>();

/** Starts to observe the effects of an action. Returns the frames in the viewport whose documents cannot be observed from here. */
export function watch(): Handle[] {
  return begin()
    .closed.filter(isInView)
    .map((e) => {
      const handle = handles.get(e) ?? keep(e);
      handles.set(e, handle);
      return handle;
    });
}

function begin(): { watching: Watch; closed: Element[] } {
  unwatch();
  const watching: Watch = {
    before: new Set(),
    changes: 0,
    changed: 0,
    trees: new Set(),
    ticks: new Map(),
    spinning: new Set(),
    idleFrom: Infinity,
    opening: undefined,
    observer: new MutationObserver((records) => recordChanges(watching, records)),
  };
  current = watching;
  const { closed } = observe(watching);
  for (const tree of watching.trees) for (const animation of tree.getAnimations()) watching.before.add(animation);
  expire(WATCH_TIMEOUT);
  return { watching, closed };
}

function unwatch(): void {
  clearTimeout(expiry);
  current?.observer.disconnect();
  for (const tree of current?.trees ?? []) tree.removeEventListener("click", clicked, { capture: true });
  current = undefined;
}

function expire(after: number): void {
  clearTimeout(expiry);
  expiry = setTimeout(unwatch, after);
}

function clicked(event: Event): void {
  const target = event.composedPath()[0];
  const leads = target && typeOf.call(target as Node) === 1 && Element.prototype["closest"].call(target, OPENING_LINK);
  if (leads && current) current.opening = event;
}

export interface Settling {
  /** The timeout for a document that continues to change, in ms. */
  limit: number;
  /** Whether to resolve at once if the tasks that are already queued cause no change. */
  brief: boolean;
}

/**
 * Resolves when the page is quiet: an animation frame has passed since the last change, and then `QUIET_TIME` without another change; or
 * after the limit. `opens` is true if the action clicked a link that starts a download or opens another page.
 */
export async function settled({ limit, brief }: Settling): Promise<{ quiet: boolean; opens: boolean }> {
  const started = performance.now();
  const watching = current ?? begin().watching;
  watching.idleFrom = Infinity;
  let still = false;
  if (brief) {
    await task();
    still = !watching.changes;
  }
  for (let ran = false; !still; ) {
    const changes = watching.changes;
    await frame(document.hidden ? undefined : FRAME_TIMEOUT);
    await task();
    // A new shadow root or document is a change that can be outside of the observed trees.
    if (observe(watching).isNew) countChange(watching);
    const runs = hasFiniteAnimation(watching);
    // The handlers of the end of an animation run in the next frame.
    if (runs || ran) countChange(watching);
    ran = runs;
    if (watching.changes === changes) {
      const left = QUIET_TIME - (performance.now() - (watching.changed || started));
      if (left > 0) await pause(left);
      still = watching.changes === changes;
    }
    if (!still && performance.now() - started >= limit) break;
  }
  watching.idleFrom = performance.now() + IDLE_TIMEOUT;
  expire(IDLE_WATCH_TIMEOUT);
  return { quiet: still, opens: !!watching.opening && !watching.opening.defaultPrevented };
}

function countChange(watching: Watch): void {
  watching.changes += 1;
  watching.changed = performance.now();
}

function recordChanges(watching: Watch, records: MutationRecord[]): void {
  const changed = new Set<Node>();
  let certain = false;
  for (const record of records) {
    const { target } = record;
    if (changesElements(record)) certain = true;
    else if (!restless.has(target) && !watching.spinning.has(target)) changed.add(target);
  }
  if (certain) countChange(watching);
  for (const node of changed) recordNodeChange(watching, node);
  recordAdditions(records);
}

/** Records a change of the text or the attributes of a node. It counts unless the node changes repeatedly. */
function recordNodeChange(watching: Watch, node: Node): void {
  const now = performance.now();
  const idle = now >= watching.idleFrom;
  const known = idle ? idleTicks : watching.ticks;
  const before = known.get(node);
  const apart = !before || now - before.at >= CHANGE_INTERVAL;
  const count = (before?.count ?? 0) + Number(apart);
  known.set(node, { count, at: apart ? now : before.at });
  if (idle) {
    if (count >= MAX_IDLE_CHANGES) restless.add(node);
  } else if (count >= MAX_CHANGES) {
    watching.spinning.add(node);
    watching.ticks.delete(node);
  } else {
    countChange(watching);
  }
}

function changesElements({ addedNodes, removedNodes }: MutationRecord): boolean {
  return [...addedNodes, ...removedNodes].some((node) => typeOf.call(node) === 1);
}

// Native getters, because fields of a form shadow these properties, and elements of frames have other prototypes.
const getter = (kind: object, name: string): (() => unknown) => Object.getOwnPropertyDescriptor(kind, name)?.get ?? (() => undefined);
const typeOf = getter(Node.prototype, "nodeType");
const localNameOf = getter(Element.prototype, "localName");
const shadowOf = getter(Element.prototype, "shadowRoot");

/** Observes the trees that are not observed yet. Returns whether there were any, and the frames whose documents cannot be observed. */
function observe(watching: Watch): { isNew: boolean; closed: Element[] } {
  const closed: Element[] = [];
  let isNew = false;
  for (const tree of treesBelow(document, closed)) {
    if (watching.trees.has(tree)) continue;
    watching.trees.add(tree);
    watching.observer.observe(tree, { subtree: true, childList: true, "attributes": true, characterData: true });
    if (typeOf.call(tree) === 9) tree.addEventListener("click", clicked, { capture: true, passive: true });
    isNew = true;
  }
  return { isNew, closed };
}

/** Returns the tree, its open shadow roots, and with `closed` the documents of its frames. Frames without access are added to `closed`. */
function treesBelow(tree: Tree, closed?: Element[]): Tree[] {
  const trees = [tree];
  const walker = document.createTreeWalker(tree, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const inner = shadowOf.call(node) as ShadowRoot | null;
    if (inner) trees.push(...treesBelow(inner, closed));
    else if (closed && FRAMES.test(localNameOf.call(node) as string)) {
      const there = observableIn(node as HTMLIFrameElement);
      if (there) trees.push(...treesBelow(there, closed));
      else closed.push(node as Element);
    }
  }
  return trees;
}

function isInView(e: Element): boolean {
  const { width, height, top, left, bottom, right } = Element.prototype["getBoundingClientRect"].call(e);
  return width > 1 && height > 1 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
}

/** Returns whether an animation runs that the action started, that is finite, and that changes more than colors and effects. */
function hasFiniteAnimation(watching: Watch): boolean {
  return [...watching.trees].some((tree) =>
    tree.getAnimations().some((animation) => {
      if (watching.before.has(animation) || animation.playState !== "running") return false;
      const effect = animation.effect as KeyframeEffect | null;
      if (!effect?.getKeyframes || !Number.isFinite(Number(effect.getComputedTiming().endTime))) return false;
      // Hover effects and ripples of a control are decorative.
      if (effect.target && isInHoveredControl(effect.target)) return false;
      return effect.getKeyframes().some((keyframe) => Object.keys(keyframe).some((property) => !IGNORED_PROPERTIES.test(property)));
    }),
  );
}

/** Returns whether an element is in a control under the pointer. */
function isInHoveredControl(target: Element): boolean {
  for (let e: Element | undefined = target; e; ) {
    if (Element.prototype["closest"].call(e, HOVERED_CONTROL)) return true;
    e = (Node.prototype["getRootNode"].call(e) as Partial<ShadowRoot>).host;
  }
  return false;
}

const LOADING = "[aria-busy=true], progress, [role=progressbar]";
const CONTENT =
  "a[href], button, input, select, textarea, h1, h2, h3, h4, h5, h6, [role=heading], table, video, canvas, iframe, frame, embed, object";
/** The minimum length of the text of a loaded document, which is longer than "Loading, please wait…". */
const MIN_TEXT = 24;

/** Returns whether the document is loading: it has `aria-busy`, a progress bar, or almost no content. */
export function waits(): boolean {
  const trees = treesBelow(document);
  const shows = (selector: string): boolean => trees.some((tree) => [...tree.querySelectorAll(selector)].some((e) => e.checkVisibility()));
  return shows(LOADING) || (!shows(CONTENT) && textLength(trees) < MIN_TEXT);
}

function textLength(trees: Tree[]): number {
  const shown = trees.flatMap((tree) => (tree === document ? [document.body] : [...tree.children]));
  return shown.reduce((length, e) => length + (e instanceof HTMLElement && e.checkVisibility() ? e.innerText.trim().length : 0), 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** Resolves after the tasks that are already queued. */
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

/** Resolves in the frame after the next change of the document, or after `limit` ms. */
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
