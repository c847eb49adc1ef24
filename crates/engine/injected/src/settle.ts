// Whether what an action began in the page is over: sees each change since before the action, in the trees of the document, of its shadow
// roots, and of the documents in its frames that are of its origin.

import { observableIn } from "./frames";
import { keep, type Handle } from "./handles";
import { frame } from "./states";

/** How long nothing may change since the page was drawn: the time of a frame. */
const STILL = 16;
/** How many separate changes make a node a spinner, whose changes do not count. */
const TICKS = 8;
const BETWEEN_TICKS = 10;
/** As many, while nobody acts, make it a clock, for good. */
const IDLE_TICKS = 4;
/** Nobody acts once so much time has passed after the end of a watch. */
const IDLE_AFTER = 200;
/** A watch that nobody ends costs the page no more than this. */
const LONGEST = 60_000;
const LINGER = 5_000;
/** How long a frame of a page in view may take: until it is drawn, what the page does in it has not begun. */
const LATEST_FRAME = 500;
const UNSEEN = /color|shadow|background|filter|outline|fill|stroke|decoration|cursor|^(offset|computedOffset|easing|composite)$/i;
/** A control under the pointer. */
const POINTED =
  ":is(a, button, input, label, option, summary, [role=button], [role=link], [role=menuitem], [role=option], [role=switch], [role=tab]):hover";
/** What leads to a download or to another page. */
const OPENING = "a[href][download], a[href][target=_blank i]";
const FRAMES = /^i?frame$/;

type Tree = Document | ShadowRoot;

interface Watch {
  /** Animations that ran already. Times do not tell: those of a frame begin with it, which may be before the action. */
  before: Set<Animation>;
  /** How often something changed, and when it did last; 0 before the first time. */
  changes: number;
  changed: number;
  observer: MutationObserver;
  trees: Set<Tree>;
  ticks: Map<Node, { count: number; at: number }>;
  spinning: Set<Node>;
  /** From here on the action is over; what changes does so by itself. */
  idleFrom: number;
  /** The last click on a link to a download or to another page. */
  opening: Event | undefined;
}

let current: Watch | undefined;
let expiry: ReturnType<typeof setTimeout> | undefined;
/** Nodes that change while nobody acts; remembered for the life of the document. */
const restless = new WeakSet<Node>();
const idleTicks = new WeakMap<Node, { count: number; at: number }>();

const handles = new WeakMap<Element, Handle>();

/** Begins to watch for the effects of an action. The frames that are in view and whose documents cannot be seen from here. */
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
    observer: new MutationObserver((records) => note(watching, records)),
  };
  current = watching;
  const { closed } = observe(watching);
  for (const tree of watching.trees) for (const animation of tree.getAnimations()) watching.before.add(animation);
  expire(LONGEST);
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
  const leads = target && typeOf.call(target as Node) === 1 && Element.prototype["closest"].call(target, OPENING);
  if (leads && current) current.opening = event;
}

export interface Settling {
  /** How long to wait for a document that goes on changing. */
  limit: number;
  /** What has not changed by the tasks that are queued already is not waited for. */
  brief: boolean;
}

/** Resolves when what was watched is over: the page was drawn since the last change, and a frame's time passed without another. Whether it is. */
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
    await frame(document.hidden ? undefined : LATEST_FRAME);
    await task();
    // Trees of which nothing is known yet came with a change, which they may have kept to themselves.
    if (observe(watching).isNew) bump(watching);
    const runs = finishing(watching);
    // When its time is over, what the page does about that comes with the next frame.
    if (runs || ran) bump(watching);
    ran = runs;
    if (watching.changes === changes) {
      const left = STILL - (performance.now() - (watching.changed || started));
      if (left > 0) await pause(left);
      still = watching.changes === changes;
    }
    if (!still && performance.now() - started >= limit) break;
  }
  watching.idleFrom = performance.now() + IDLE_AFTER;
  expire(LINGER);
  return { quiet: still, opens: !!watching.opening && !watching.opening.defaultPrevented };
}

function bump(watching: Watch): void {
  watching.changes += 1;
  watching.changed = performance.now();
}

function note(watching: Watch, records: MutationRecord[]): void {
  const changed = new Set<Node>();
  let certain = false;
  for (const record of records) {
    const { target } = record;
    if (changesElements(record)) certain = true;
    else if (!restless.has(target) && !watching.spinning.has(target)) changed.add(target);
  }
  if (certain) bump(watching);
  for (const node of changed) tick(watching, node);
}

/** A change of a node's text or attributes, which counts unless it goes on and on. */
function tick(watching: Watch, node: Node): void {
  const now = performance.now();
  const idle = now >= watching.idleFrom;
  const known = idle ? idleTicks : watching.ticks;
  const before = known.get(node);
  const apart = !before || now - before.at >= BETWEEN_TICKS;
  const count = (before?.count ?? 0) + Number(apart);
  known.set(node, { count, at: apart ? now : before.at });
  if (idle) {
    if (count >= IDLE_TICKS) restless.add(node);
  } else if (count >= TICKS) {
    watching.spinning.add(node);
    watching.ticks.delete(node);
  } else {
    bump(watching);
  }
}

function changesElements({ addedNodes, removedNodes }: MutationRecord): boolean {
  return [...addedNodes, ...removedNodes].some((node) => typeOf.call(node) === 1);
}

// Called as what the browser has for them: a form shows its fields under these names, and elements of another document are of other classes.
const getter = (kind: object, name: string): (() => unknown) => Object.getOwnPropertyDescriptor(kind, name)?.get ?? (() => undefined);
const typeOf = getter(Node.prototype, "nodeType");
const nameOf = getter(Element.prototype, "localName");
const shadowOf = getter(Element.prototype, "shadowRoot");

/** Observes what is not observed yet; whether there was any, and the frames whose documents cannot be seen. */
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

/** The tree, those of the open shadow roots in it, and with `closed`, which takes the others, those of the documents in its frames. */
function treesBelow(tree: Tree, closed?: Element[]): Tree[] {
  const trees = [tree];
  const walker = document.createTreeWalker(tree, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const inner = shadowOf.call(node) as ShadowRoot | null;
    if (inner) trees.push(...treesBelow(inner, closed));
    else if (closed && FRAMES.test(nameOf.call(node) as string)) {
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

/** Whether an animation that the action started, that will end, and that changes what can be seen or pointed at is still running. */
function finishing(watching: Watch): boolean {
  return [...watching.trees].some((tree) =>
    tree.getAnimations().some((animation) => {
      if (watching.before.has(animation) || animation.playState !== "running") return false;
      const effect = animation.effect as KeyframeEffect | null;
      if (!effect?.getKeyframes || !Number.isFinite(Number(effect.getComputedTiming().endTime))) return false;
      // A button that swells or ripples under the pointer does so for its own sake.
      if (effect.target && isPointed(effect.target)) return false;
      return effect.getKeyframes().some((keyframe) => Object.keys(keyframe).some((property) => !UNSEEN.test(property)));
    }),
  );
}

/** Whether it belongs to a control under the pointer. */
function isPointed(target: Element): boolean {
  for (let e: Element | undefined = target; e; ) {
    if (Element.prototype["closest"].call(e, POINTED)) return true;
    e = (Node.prototype["getRootNode"].call(e) as Partial<ShadowRoot>).host;
  }
  return false;
}

const WAITING = "[aria-busy=true], progress, [role=progressbar]";
const CONTENT =
  "a[href], button, input, select, textarea, h1, h2, h3, h4, h5, h6, [role=heading], table, video, canvas, iframe, frame, embed, object";
/** Text that a document which still waits may have, such as "Loading, please wait…". */
const LITTLE = 24;

/** Whether the document shows that it waits for something: it says so, shows a progress bar, or next to nothing. */
export function waits(): boolean {
  const trees = treesBelow(document);
  const shows = (selector: string): boolean => trees.some((tree) => [...tree.querySelectorAll(selector)].some((e) => e.checkVisibility()));
  return shows(WAITING) || (!shows(CONTENT) && textLength(trees) < LITTLE);
}

function textLength(trees: Tree[]): number {
  const shown = trees.flatMap((tree) => (tree === document ? [document.body] : [...tree.children]));
  return shown.reduce((length, e) => length + (e instanceof HTMLElement && e.checkVisibility() ? e.innerText.trim().length : 0), 0);
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
