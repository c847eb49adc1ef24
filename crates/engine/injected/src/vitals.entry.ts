// Defines `globalThis.__playhouseVitals`, which observes the Core Web Vitals of a document: https://web.dev/articles/vitals. The script is
// evaluated before the document's own scripts, or later. Entries of event timing that are shorter than 104 ms are only observed then, and
// so are those of before.

/** The largest number of interactions that are kept, as in the definition of INP: the longest ones. */
const KEPT_INTERACTIONS = 10;
/** One of so many interactions is ignored. */
const INTERACTIONS_PER_OUTLIER = 50;
/** The largest gap between the layout shifts of a session window, and its largest length, in ms. */
const WINDOW_GAP = 1_000;
const WINDOW_LENGTH = 5_000;
/** The shortest events that are observed, in ms: the least that browsers allow. */
const SHORTEST_EVENT = 16;
/** The granularity of the durations of events, in ms. */
const PAINT_GRANULARITY = 8;
/** How long to wait for the next frame, in ms. A hidden page has none. */
const FRAME_TIMEOUT = 400;
/** How long a browser may take to report that a frame was presented, in ms. */
const PRESENTATION_TIME = 100;

type Keep = (e: Element) => number;

interface LcpEntry extends PerformanceEntry {
  readonly element: Element | null;
  readonly url: string;
  readonly loadTime: number;
  readonly size: number;
}

interface ShiftEntry extends PerformanceEntry {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources?: readonly { readonly node: Node | null }[];
}

interface EventEntry extends PerformanceEventTiming {
  readonly interactionId: number;
}

interface Shift {
  time: number;
  value: number;
  nodes: (Node | null)[];
}

interface Interaction {
  id: number;
  type: string;
  /** How long the listeners of the event of this type took. */
  busy: number;
  time: number;
  duration: number;
  /** When the listeners of the first event began, and those of the last one ended. */
  start: number;
  end: number;
  target: Node | null;
}

interface Lcp {
  value: number;
  element: Element | null;
  url: string;
}

const types: readonly string[] = PerformanceObserver.supportedEntryTypes;
const hasInteractions = types.includes("event") && "interactionId" in PerformanceEventTiming.prototype;
const observers: { observer: PerformanceObserver; handle: (entries: PerformanceEntryList) => void }[] = [];

/** The time since which the page is shown: that of a document that is restored from the back/forward cache, or of one that was prerendered. */
let shownSince = (performance.getEntriesByType("navigation")[0] as { activationStart?: number } | undefined)?.activationStart ?? 0;
let isRestored = false;
let hiddenAt = document.visibilityState === "hidden" && !("prerendering" in document && document.prerendering) ? 0 : Infinity;
let lcp: Lcp | undefined;
let fcp: number | undefined;
let isLcpFinal = false;
let shiftWindow: Shift[] = [];
let worstWindow: Shift[] = [];
let interactions: Interaction[] = [];
let interactionIds = new Set<number>();

function observe(type: string, handle: (entries: PerformanceEntryList) => void, options: object = {}): void {
  if (!types.includes(type)) return;
  const observer = new PerformanceObserver((list) => handle(list.getEntries()));
  observer.observe({ type, buffered: true, ...options });
  observers.push({ observer, handle });
}

function onLcp(entries: PerformanceEntryList): void {
  for (const entry of entries as LcpEntry[])
    if (!isLcpFinal && entry.startTime < hiddenAt)
      lcp = { value: Math.max(0, entry.startTime - shownSince), element: entry.element, url: entry.url };
}

function onPaint(entries: PerformanceEntryList): void {
  for (const { name, startTime } of entries)
    if (name === "first-contentful-paint" && startTime < hiddenAt) fcp = Math.max(0, startTime - shownSince);
}

function sum(shifts: Shift[]): number {
  return shifts.reduce((sum, { value }) => sum + value, 0);
}

function onShifts(entries: PerformanceEntryList): void {
  for (const { startTime: time, value, hadRecentInput, sources } of entries as ShiftEntry[]) {
    if (hadRecentInput || time < shownSince) continue;
    const first = shiftWindow[0];
    const last = shiftWindow.at(-1);
    if (!first || !last || time - last.time >= WINDOW_GAP || time - first.time >= WINDOW_LENGTH) shiftWindow = [];
    shiftWindow.push({ time, value, nodes: (sources ?? []).map(({ node }) => node) });
    if (sum(shiftWindow) > sum(worstWindow)) worstWindow = [...shiftWindow];
  }
}

function onEvents(entries: PerformanceEntryList): void {
  for (const entry of entries as EventEntry[]) {
    const { interactionId: id, name: type, startTime: time, duration, processingStart, processingEnd, target } = entry;
    if (!id || time < shownSince) continue;
    interactionIds.add(id);
    const known = interactions.find((other) => other.id === id);
    const busy = processingEnd - processingStart;
    // Events before the same paint share its latency: a pointerup and its click.
    if (known && Math.abs(time + duration - known.time - known.duration) <= PAINT_GRANULARITY) {
      known.target ??= target;
      if (busy > known.busy) Object.assign(known, { type, busy });
      if (duration > known.duration) Object.assign(known, { time, duration });
      known.start = Math.min(known.start, processingStart);
      known.end = Math.max(known.end, processingEnd);
      continue;
    }
    if (known && known.duration >= duration) {
      known.target ??= target;
      continue;
    }
    interactions = interactions.filter((other) => other.id !== id);
    interactions.push({
      id,
      type,
      busy,
      time,
      duration,
      start: processingStart,
      end: processingEnd,
      target: target ?? known?.target ?? null,
    });
    interactions.sort((one, other) => other.duration - one.duration);
    interactions.length = Math.min(interactions.length, KEPT_INTERACTIONS);
  }
}

/** The number of interactions; some browsers count them, and so those that are too short to be observed. */
function interactionCount(): number {
  return (performance as { interactionCount?: number }).interactionCount ?? interactionIds.size;
}

/** The interaction whose duration is INP: the longest one, or a shorter one if there are many. */
function inp(): Interaction | undefined {
  const outliers = Math.floor(interactionCount() / INTERACTIONS_PER_OUTLIER);
  return interactions[Math.min(interactions.length - 1, outliers)];
}

function frame(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FRAME_TIMEOUT);
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, PRESENTATION_TIME)));
  });
}

function elementOf(node: Node | null): Element | null {
  return node?.nodeType === Node.ELEMENT_NODE ? (node as Element) : (node?.parentElement ?? null);
}

/** Returns the vitals until now, with the handles of the elements that still exist. */
async function vitals(_argument: unknown, { keep }: { keep: Keep }): Promise<object> {
  // Entries of the last events are added after the next frame was presented.
  await frame();
  for (const { observer, handle } of observers) handle(observer.takeRecords());
  const handleOf = (node: Node | null): number | null => {
    const element = elementOf(node);
    return element?.isConnected ? keep(element) : null;
  };
  const navigation = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined;
  const interaction = inp();
  return {
    lcp: types.includes("largest-contentful-paint")
      ? { entry: lcp ? { value: lcp.value, url: lcp.url, handle: handleOf(lcp.element) } : null }
      : null,
    cls: types.includes("layout-shift")
      ? {
          value: sum(worstWindow),
          shifts: worstWindow.map(({ time, value, nodes }) => ({ time: time - shownSince, value, handles: nodes.map(handleOf) })),
        }
      : null,
    inp: hasInteractions
      ? {
          count: interactionCount(),
          entry: interaction
            ? {
                type: interaction.type,
                time: interaction.time - shownSince,
                duration: interaction.duration,
                inputDelay: Math.max(0, interaction.start - interaction.time),
                processing: interaction.end - interaction.start,
                presentation: Math.max(0, interaction.time + interaction.duration - interaction.end),
                handle: handleOf(interaction.target),
              }
            : null,
        }
      : null,
    ttfb: isRestored ? 0 : navigation && navigation.responseStart > 0 ? Math.max(0, navigation.responseStart - shownSince) : null,
    fcp: types.includes("paint") ? { entry: fcp ?? null } : null,
  };
}

/** Begins again for a document that is restored from the back/forward cache, whose first frame is its largest paint. */
function restart(event: PageTransitionEvent): void {
  shownSince = event.timeStamp;
  isRestored = true;
  hiddenAt = Infinity;
  lcp = fcp = undefined;
  isLcpFinal = true;
  shiftWindow = worstWindow = [];
  interactions = [];
  interactionIds = new Set();
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      fcp = performance.now() - shownSince;
      lcp = { value: fcp, element: null, url: "" };
    }),
  );
}

const exposed = globalThis as { __playhouseVitals?: typeof vitals };

// Frames have no vitals of their own.
if (!exposed.__playhouseVitals && window === window.top) {
  observe("largest-contentful-paint", onLcp);
  observe("paint", onPaint);
  observe("layout-shift", onShifts);
  if (hasInteractions) {
    observe("event", onEvents, { durationThreshold: SHORTEST_EVENT });
    observe("first-input", onEvents);
  }
  addEventListener("pageshow", (event) => event.persisted && restart(event), true);
  addEventListener(
    "visibilitychange",
    (event) => {
      if (document.visibilityState === "hidden") hiddenAt = Math.min(hiddenAt, event.timeStamp);
    },
    true,
  );
  Object.defineProperty(exposed, "__playhouseVitals", { value: vitals, configurable: true });
}
