// Detects when the effects of an action on the page are complete. Changes are observed from before the action, in the document, its shadow
// roots, and the documents of same-origin frames.

import { causes, pause, queueTask, requestIdle, setTimer } from "./causes";
import { observableIn } from "./frames";
import { keep, type Handle } from "./handles";
import { recordOpacities } from "./hidden";
import { pointerMoved, recordAttributes } from "./looks";
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
/** The time after which the observation ends if there is no other call, in ms. */
const WATCH_TIMEOUT = 60_000;
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
/** How often it is checked whether timers were cleared, and how much later a timer can run than it is due, in ms. */
const CONTENT_POLL_INTERVAL = 100;
const TIMER_POLL_INTERVAL = 25;
const TIMER_SLACK = 1;
/** How long a turn of the wait can take, and how much longer it takes if scripts keep the thread busy, in ms. */
const TURN_TIME = 40;
const BUSY_TIME = 40;

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
/** The number of calls that have waited for the effects of actions. */
let settlings = 0;
let expiry: ReturnType<typeof setTimeout> | undefined;
/** The nodes that change without an action, such as clocks. */
const restless = new WeakSet<Node>();
const idleTicks = new WeakMap<Node, { count: number; at: number }>();

const handles = new WeakMap<Element, Handle>();

/**
 * Starts to observe the effects of an action. Returns the frames in the viewport whose documents cannot be observed from here; null if the
 * document runs no scripts: then nothing changes later, and no callback of this script would ever be called.
 */
export function watch(): Handle[] | null {
  if (matchMedia("(scripting: none)")["matches"]) return null;
  causes("begin");
  return begin().closed.filter(isInView).map(handleOf);
}

function handleOf(e: Element): Handle {
  const handle = handles.get(e) ?? keep(e);
  handles.set(e, handle);
  return handle;
}

/**
 * Returns whether the input of an action caused something that has not run yet; `holds`: it sent requests, so that more may follow. And the
 * frame that has the focus or the pointer, if its document cannot be observed from here.
 */
export function pending({ limit, holds }: { limit: number; holds: boolean }): { pending: boolean; within: Handle[] } {
  const { left, steps, idle } = causes(limit);
  const isPending = left > 0 || steps > 0 || idle > 0;
  settlings += 1;
  causes(isPending || holds ? "hold" : "end");
  const entered = [document.activeElement, document.querySelector(":is(iframe, frame):hover")];
  const within = entered.filter((e) => e && FRAMES.test(localNameOf.call(e) as string) && !observableIn(e as HTMLIFrameElement));
  return { pending: isPending, within: [...new Set(within)].map((e) => handleOf(e as Element)) };
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
  document.addEventListener("mousemove", pointerMoved, { capture: true, passive: true });
  for (const tree of watching.trees) for (const animation of tree.getAnimations()) watching.before.add(animation);
  expire(WATCH_TIMEOUT);
  return { watching, closed };
}

/** Observes the document after it was read, so that what comes and goes until the next answer is recorded. */
export function keepWatching(): void {
  if (!current) begin().watching.idleFrom = performance.now();
  expire(WATCH_TIMEOUT);
}

function unwatch(): void {
  clearTimeout(expiry);
  current?.observer.disconnect();
  for (const tree of current?.trees ?? []) tree.removeEventListener("click", clicked, { capture: true });
  document.removeEventListener("mousemove", pointerMoved, { capture: true });
  current = undefined;
}

function expire(after: number): void {
  clearTimeout(expiry);
  expiry = setTimer(unwatch, after);
}

function clicked(event: Event): void {
  const target = event.composedPath()[0];
  const leads = target && typeOf.call(target as Node) === 1 && Element.prototype["closest"].call(target, OPENING_LINK);
  if (leads && current) current.opening = event;
}

export interface Settling {
  /** The timeout for a document that continues to change, in ms. */
  limit: number;
  /** The timeout for what the action caused and has not run yet, in ms. */
  causes: number;
  /** Whether to resolve at once if the tasks that are already queued cause no change and nothing is pending. */
  brief: boolean;
  /** How long to wait for a document that shows nothing, in ms; default: not at all. */
  content?: number;
  /** How much time in which scripts keep the thread busy does not count, in ms; default: none. */
  busy?: number;
}

/**
 * Resolves when the page is quiet: an animation frame has passed since the last change, then `QUIET_TIME` without another change, and
 * nothing that the action caused is pending; or after the limits. `opens` is true if the action clicked a link that starts a download or
 * opens another page.
 */
export async function settled({
  limit,
  causes: longest,
  brief,
  content = 0,
  busy = 0,
}: Settling): Promise<{ quiet: boolean; opens: boolean }> {
  const started = performance.now();
  const watching = current ?? begin().watching;
  watching.idleFrom = Infinity;
  const own = ++settlings;
  if (longest) causes("hold");
  const rest = (): number => Math.max(0, started + longest - performance.now());
  let still = false;
  let idle = 0;
  let blocked = 0;
  if (brief) {
    await task();
    const caused = causes(longest);
    still = !watching.changes && !caused.left && !caused.steps && !caused.idle;
  }
  for (let ran = false; !still; ) {
    const changes = watching.changes;
    const turn = performance.now();
    let isPending = false;
    const { steps } = causes(0);
    await frame(document.hidden ? undefined : FRAME_TIMEOUT);
    // A page that is not painted has no frames, and is not busy for that.
    const framed = performance.now() - turn;
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
      // What is evaluated at length has not shown its result yet.
      const late = performance.now() - turn - TURN_TIME;
      if (late >= BUSY_TIME && framed < FRAME_TIMEOUT && blocked < busy) {
        blocked += late;
        countChange(watching);
      }
      const caused = causes(rest());
      if (caused.idle > idle) await idleTime(rest());
      // Frames and messages that were requested before have been delivered.
      isPending = caused.steps > steps || caused.idle > idle || (await timersRan(watching, changes, rest));
      if (isPending) countChange(watching);
      ({ idle } = caused);
      still = watching.changes === changes;
    }
    if (!still && performance.now() - started - Math.min(blocked, busy) >= limit && !(isPending && rest())) break;
  }
  // A call that another one has replaced is not the end of the action.
  if (longest && own === settlings) causes("rest");
  if (content && isBlank()) await firstContent(content - (performance.now() - started));
  watching.idleFrom = performance.now() + IDLE_TIMEOUT;
  expire(WATCH_TIMEOUT);
  return { quiet: still, opens: !!watching.opening && !watching.opening.defaultPrevented };
}

/** Waits for the timers of the action that are due within the limit; returns whether there were any. A change ends the wait. */
async function timersRan(watching: Watch, changes: number, rest: () => number): Promise<boolean> {
  let ran = false;
  for (let { left } = causes(rest()); left > 0 && watching.changes === changes; { left } = causes(rest())) {
    ran = true;
    // Timers can be cleared.
    await pause(Math.min(left + TIMER_SLACK, TIMER_POLL_INTERVAL));
  }
  return ran;
}

/** Resolves after the idle callbacks that were requested before. */
function idleTime(timeout: number): Promise<void> {
  return new Promise((done) => requestIdle(done, Math.max(1, timeout)));
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
  recordAttributes(records);
  recordOpacities(records);
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
    watching.observer.observe(tree, { subtree: true, childList: true, "attributes": true, attributeOldValue: true, characterData: true });
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

/** Indicators of loading: a part that is busy, and progress without a value, which is not a decoration. */
const BUSY = "[aria-busy=true], progress:not([value]), [role=progressbar]:not([aria-valuenow], [aria-hidden=true])";
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

/** Returns whether the document itself, without its frames and shadow roots, indicates that a part of it is loading. */
export function isBusy(): boolean {
  return [...document.querySelectorAll(BUSY)].some((e) => e.checkVisibility());
}

/** What is no text and can be seen. Splash screens have drawings without text. */
const PICTURES = "img, picture, svg text";

/** Returns whether the document shows nothing, only a drawing, or only that it is loading, and has scripts that can change that. */
export function isBlank(): boolean {
  if (!document.scripts.length) return false;
  const trees = treesBelow(document);
  const shown = (selector: string): Element[] =>
    trees.flatMap((tree) => [...tree.querySelectorAll(selector)].filter((e) => e.checkVisibility()));
  if (shown(`${CONTENT}, ${PICTURES}`).length) return false;
  const loading = shown(LOADING).reduce((length, e) => length + (e instanceof HTMLElement ? e.innerText.trim().length : 0), 0);
  return textLength(trees) <= loading;
}

/** Resolves when the document shows something, in a frame after that; or after `limit` ms. */
async function firstContent(limit: number): Promise<void> {
  const end = performance.now() + limit;
  for (let left = limit; left > 0 && isBlank(); left = end - performance.now())
    await nextChange({ limit: Math.min(left, CONTENT_POLL_INTERVAL) });
}

function textLength(trees: Tree[]): number {
  const shown = trees.flatMap((tree) => (tree === document ? [document.body] : [...tree.children]));
  return shown.reduce((length, e) => length + (e instanceof HTMLElement && e.checkVisibility() ? e.innerText.trim().length : 0), 0);
}

/** Resolves after the tasks that are already queued. */
function task(): Promise<void> {
  return new Promise(queueTask);
}

/** Resolves in the frame after the next change of the document, or after `limit` ms. */
export function nextChange({ limit }: { limit: number }): Promise<null> {
  return new Promise((done) => {
    const observer = new MutationObserver(() => void frame().then(end));
    const timer = setTimer(end, limit);
    function end(): void {
      observer.disconnect();
      clearTimeout(timer);
      done(null);
    }
    observer.observe(document, { subtree: true, childList: true, "attributes": true, characterData: true });
  });
}
