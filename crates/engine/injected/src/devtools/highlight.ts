// Highlights: outlines that follow their elements.

import type { Handle } from "../handles";
import { core } from "./core";
import { createOverlay, setStyle, show } from "./overlay";

interface Highlight {
  /** The target that the client gave. */
  target: string;
  element: Element;
  outline: HTMLElement;
  /** The last position, to write the style only if it changes. */
  position: string;
}

const DEFAULT_STYLE = "outline: 2px solid #006ab1; background: #6fa8dc40";

let highlights: Highlight[] = [];
let overlay: ReturnType<typeof createOverlay> | undefined;

/** Highlights elements with additional CSS declarations. A highlight of the same element is replaced. */
export function highlight({ handles, target, style }: { handles: Handle[]; target: string; style?: string }): number {
  const elements = handles.flatMap((handle) => core().element(handle) ?? []);
  remove((one) => elements.includes(one.element));
  if (!elements.length) return 0;
  if (!overlay?.host.isConnected) {
    overlay = createOverlay();
    show(overlay.host);
  }
  const wasRunning = highlights.length > 0;
  for (const element of elements) {
    const outline = document.createElement("div");
    outline.style.cssText = `all: initial; ${DEFAULT_STYLE}; ${style ?? ""}`;
    setStyle(outline, "position: fixed; pointer-events: none; box-sizing: border-box; margin: 0; display: none");
    overlay.root.append(outline);
    highlights.push({ target, element, outline, position: "" });
  }
  for (const one of highlights) place(one);
  if (!wasRunning) follow();
  return elements.length;
}

/** Removes the highlights of elements, and those that were added for a target. Removes all without a target. */
export function hideHighlights({ handles, target }: { handles?: Handle[]; target?: string }): void {
  const elements = handles?.map((handle) => core().element(handle));
  remove((one) => target === undefined || one.target === target || !!elements?.includes(one.element));
}

function remove(isRemoved: (one: Highlight) => boolean): void {
  const kept: Highlight[] = [];
  for (const one of highlights) {
    if (isRemoved(one)) one.outline.remove();
    else kept.push(one);
  }
  highlights = kept;
  if (kept.length) return;
  overlay?.host.remove();
  overlay = undefined;
}

/** Moves the outlines in each animation frame, until there are no more highlights. */
function follow(): void {
  requestAnimationFrame(() => {
    if (!highlights.length) return;
    for (const one of highlights) place(one);
    follow();
  });
}

function place(one: Highlight): void {
  const { x, y, width, height } = one.element.getBoundingClientRect();
  const isShown = one.element.isConnected && (width > 0 || height > 0);
  const position = isShown ? `display: block; left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px` : "display: none";
  if (position === one.position) return;
  one.position = position;
  setStyle(one.outline, position);
}
