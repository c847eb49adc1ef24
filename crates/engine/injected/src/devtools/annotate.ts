// Annotations: the user marks areas and elements of the page and writes notes. All input is in a frame within a closed shadow root, so that
// its events do not reach the page, and only trusted events count.

import type { Handle } from "../handles";
import { core } from "./core";
import { createOverlay, setStyle, show } from "./overlay";

interface Mark {
  x: number;
  y: number;
  width: number;
  height: number;
  element: Element | undefined;
  outline: HTMLElement;
  note: HTMLInputElement;
}

type State = "open" | "submitted" | "cancelled";

/** A mark with its note, in CSS pixels of the viewport, in the JSON format of the Rust type `annotation::Annotation`. */
interface Annotation {
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
  handle: Handle | null;
}

interface Session {
  host: HTMLElement;
  frame: HTMLIFrameElement;
  state: State;
  marks: Mark[];
  comment: HTMLTextAreaElement | undefined;
  toolbar: HTMLElement | undefined;
  inner: Document | undefined;
}

const MAX_MARKS = 50;
const MAX_NOTE = 2_000;
/** A smaller drag, in CSS pixels, is a click. */
const MIN_DRAG = 5;
/** The part of an area that an element may leave uncovered, in CSS pixels on each side. */
const TOLERANCE = 4;

let session: Session | undefined;

/** Shows the tools for annotations. */
export function annotate(): void {
  removeAnnotations();
  const { host, root } = createOverlay();
  setStyle(host, "pointer-events: auto");
  const frame = document.createElement("iframe");
  setStyle(frame, "all: initial; position: fixed; inset: 0; width: 100vw; height: 100vh; border: 0; color-scheme: normal");
  const created: Session = { host, frame, state: "open", marks: [], comment: undefined, toolbar: undefined, inner: undefined };
  session = created;
  // Firefox replaces the first document of the frame.
  frame.addEventListener("load", () => build(created));
  root.append(frame);
  show(host);
  build(created);
}

/** Returns the annotations; null if the document has no tools for them. */
export function annotations(): { state: State; comment: string; annotations: Annotation[] } | null {
  if (!session) return null;
  // A page that removes the tools does not end them.
  if (!session.host.isConnected) show(session.host);
  const { state, marks, comment } = session;
  const text = (value: string | undefined): string => (value ?? "").trim().slice(0, MAX_NOTE);
  return {
    state,
    comment: text(comment?.value),
    annotations: marks.map(({ x, y, width, height, element, note }) => ({
      x,
      y,
      width,
      height,
      text: text(note.value),
      handle: element?.isConnected ? core().handle(element) : null,
    })),
  };
}

/** Hides everything but the numbered marks, for a screenshot. */
export function freezeAnnotations(): void {
  if (session?.toolbar) setStyle(session.toolbar, "display: none");
  for (const { note } of session?.marks ?? []) setStyle(note, "display: none");
}

/** Removes the tools and the marks. */
export function removeAnnotations(): void {
  session?.host.remove();
  session = undefined;
}

function build(current: Session): void {
  const inner = current.frame.contentDocument;
  if (!inner?.body || inner === current.inner) return;
  current.inner = inner;
  const { body } = inner;
  body.style.cssText = "margin: 0; overflow: hidden; cursor: crosshair; user-select: none; font: 13px system-ui, sans-serif";
  const surface = inner.createElement("div");
  surface.style.cssText = "position: fixed; inset: 0";
  body.append(surface);
  addToolbar(current, inner);
  listenToDrags(current, inner, surface);
  listen(inner, "keydown", (event: KeyboardEvent) => {
    if (event.key === "Escape") current.state = "cancelled";
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) current.state = "submitted";
  });
}

/** Adds a listener for events of the user. */
function listen<E extends Event>(target: EventTarget, type: string, listener: (event: E) => void): void {
  target.addEventListener(type, (event) => event.isTrusted && listener(event as E));
}

function addToolbar(current: Session, inner: Document): void {
  const toolbar = inner.createElement("form");
  toolbar.style.cssText =
    "position: fixed; left: 50%; bottom: 12px; transform: translateX(-50%); display: flex; gap: 8px; align-items: center; padding: 8px; background: #1f2937; color: #fff; border-radius: 8px; cursor: default; box-shadow: 0 2px 12px #0008; z-index: 1";
  const hint = inner.createElement("span");
  hint.append("Drag over an area or click an element, and write a note.");
  const comment = inner.createElement("textarea");
  comment.rows = 1;
  comment.placeholder = "General comment";
  comment.maxLength = MAX_NOTE;
  const button = (text: string, state: State): HTMLElement => {
    const e = inner.createElement("button");
    e.type = "button";
    e.append(text);
    listen(e, "click", () => (current.state = state));
    return e;
  };
  toolbar.append(hint, comment, button("Send", "submitted"), button("Cancel", "cancelled"));
  inner.body.append(toolbar);
  current.comment = comment;
  current.toolbar = toolbar;
}

function listenToDrags(current: Session, inner: Document, surface: HTMLElement): void {
  let start: { x: number; y: number } | undefined;
  let mark: Mark | undefined;
  listen(surface, "mousedown", (event: MouseEvent) => {
    if (event.button !== 0 || current.state !== "open" || current.marks.length >= MAX_MARKS) return;
    // The focus moves to the note.
    event.preventDefault();
    start = { x: event.clientX, y: event.clientY };
    mark = addMark(current, inner);
  });
  listen(inner, "mousemove", (event: MouseEvent) => {
    if (mark && start) place(mark, between(start, { x: event.clientX, y: event.clientY }));
  });
  listen(inner, "mouseup", (event: MouseEvent) => {
    if (!mark || !start) return;
    const area = between(start, { x: event.clientX, y: event.clientY });
    const isClick = area.width < MIN_DRAG && area.height < MIN_DRAG;
    mark.element = elementAt(current, area, isClick);
    if (isClick && mark.element) {
      const { x, y, width, height } = mark.element.getBoundingClientRect();
      place(mark, { x, y, width, height });
    } else place(mark, area);
    // The window of the frame has prototypes of its own, without the aliases of src/own.ts.
    mark.note["focus"]();
    mark = start = undefined;
  });
}

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

function between(a: { x: number; y: number }, b: { x: number; y: number }): Area {
  return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
}

function addMark(current: Session, inner: Document): Mark {
  const outline = inner.createElement("div");
  outline.style.cssText = "position: fixed; box-sizing: border-box; border: 2px solid #dc2626; pointer-events: none";
  const number = inner.createElement("span");
  number.append(String(current.marks.length + 1));
  number.style.cssText = "position: absolute; left: -2px; top: -2px; padding: 0 5px; background: #dc2626; color: #fff";
  const note = inner.createElement("input");
  note.maxLength = MAX_NOTE;
  note.placeholder = "Note";
  note.style.cssText = "position: absolute; left: -2px; top: 100%; margin-top: 4px; width: 220px; pointer-events: auto";
  outline.append(number, note);
  inner.body.append(outline);
  const mark: Mark = { x: 0, y: 0, width: 0, height: 0, element: undefined, outline, note };
  current.marks.push(mark);
  return mark;
}

function place(mark: Mark, { x, y, width, height }: Area): void {
  Object.assign(mark, { x, y, width, height });
  mark.outline.style.cssText += `; left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px`;
}

/** Returns the innermost element at the center of an area, or for an area that was dragged the innermost one that covers the area. */
function elementAt({ host, frame }: Session, area: Area, isClick: boolean): Element | undefined {
  setStyle(host, "pointer-events: none");
  setStyle(frame, "pointer-events: none");
  const [x, y] = [area.x + area.width / 2, area.y + area.height / 2];
  let found = document.elementFromPoint(x, y);
  for (let inner = found?.shadowRoot?.elementFromPoint(x, y); inner && inner !== found; inner = found?.shadowRoot?.elementFromPoint(x, y)) {
    found = inner;
  }
  setStyle(host, "pointer-events: auto");
  setStyle(frame, "pointer-events: auto");
  while (!isClick && found?.parentElement && !covers(found, area)) found = found.parentElement;
  return found ?? undefined;
}

function covers(e: Element, { x, y, width, height }: Area): boolean {
  const box = e.getBoundingClientRect();
  return (
    box.left <= x + TOLERANCE && box.top <= y + TOLERANCE && box.right >= x + width - TOLERANCE && box.bottom >= y + height - TOLERANCE
  );
}
