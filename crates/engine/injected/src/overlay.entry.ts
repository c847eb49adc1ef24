// Defines `globalThis.__playhouseOverlay`, which draws the actions and chapters of a video over the page. The element is in the top layer,
// takes no pointer events, is hidden from accessibility, and has a closed shadow root. Styles are set on elements, because a
// Content-Security-Policy can block style sheets.
import "./own";

interface Point {
  x: number;
  y: number;
}

interface Rect extends Point {
  width: number;
  height: number;
}

/** What is drawn for an action. Times are in milliseconds. */
interface Action {
  title: string;
  position: string;
  rect?: Rect;
  at?: Point;
  cursor: boolean;
  duration: number;
  style: { title?: string; highlight?: string; point?: string };
}

/** A card that covers the page. */
interface Chapter {
  title: string;
  description?: string;
  duration: number;
}

const FONT = "font:16px/1.4 system-ui,sans-serif;";
const HOST = [
  "display:block;position:fixed;inset:0;width:100%;height:100%;max-width:none;max-height:none;margin:0;padding:0;border:0;overflow:hidden;",
  "background:none;opacity:1;visibility:visible;transform:none;filter:none;pointer-events:none;z-index:2147483647;",
]
  .join("")
  .replaceAll(";", "!important;");
const POINTER = "M1 1v17l4.2-4 2.9 6.6 2.9-1.3L8.2 13H14z";

const host = document.createElement("x-playhouse-overlay");
const root = host.attachShadow({ mode: "closed" });
let pointer: HTMLElement | undefined;

/** Attaches the overlay above everything that the page shows, including its dialogs. */
function raise() {
  host.style.cssText = HOST;
  host.ariaHidden = "true";
  host.popover = "manual";
  if (!host.isConnected) document.documentElement.append(host);
  try {
    host.hidePopover();
    host.showPopover();
  } catch {
    // Its z-index remains.
  }
}

function add(parent: Node, css: string, text = "") {
  const e = document.createElement("div");
  e.style.cssText = css;
  e.textContent = text;
  parent.appendChild(e);
  return e;
}

/** Shows an element for a time. It does not fade in, because a polled frame would show the beginning only. */
function showFor(e: HTMLElement, duration: number) {
  setTimeout(() => e.remove(), duration);
}

function movePointer({ x, y }: Point, duration: number) {
  if (!pointer) {
    pointer = add(root, `position:fixed;left:0;top:0;width:16px;height:22px;transform:translate(${innerWidth / 2}px,${innerHeight / 2}px)`);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", POINTER);
    path.style.cssText = "fill:#000;stroke:#fff;stroke-width:1.5";
    svg.appendChild(path);
    pointer.appendChild(svg);
    // The start of the transition.
    pointer.getBoundingClientRect();
  }
  pointer.style.transition = `transform ${duration}ms ease`;
  pointer.style.transform = `translate(${x}px,${y}px)`;
}

function place(position: string) {
  const vertical = position.startsWith("bottom") ? "bottom:8px;" : "top:8px;";
  if (position.endsWith("left")) return `${vertical}left:8px;`;
  if (position.endsWith("right")) return `${vertical}right:8px;`;
  return `${vertical}left:50%;transform:translateX(-50%);`;
}

const overlay = {
  action({ title, position, rect, at, cursor, duration, style }: Action) {
    raise();
    if (title) {
      const css = `position:fixed;${place(position)}max-width:80%;padding:4px 10px;border-radius:4px;background:#333c;color:#fff;${FONT}overflow:hidden;text-overflow:ellipsis;white-space:nowrap;`;
      showFor(add(root, css + (style.title ?? ""), title), duration);
    }
    if (rect && style.highlight) {
      const { x, y, width, height } = rect;
      const css = `position:fixed;left:${x}px;top:${y}px;width:${width}px;height:${height}px;box-sizing:border-box;`;
      showFor(add(root, css + style.highlight), duration);
    }
    if (at && style.point) {
      const css = `position:fixed;left:${at.x - 10}px;top:${at.y - 10}px;width:20px;height:20px;border-radius:50%;`;
      showFor(add(root, css + style.point), duration);
    }
    if (at && cursor) movePointer(at, Math.min(duration, 600));
  },

  chapter({ title, description, duration }: Chapter) {
    raise();
    const card = add(
      root,
      `position:fixed;inset:0;display:flex;align-items:center;justify-content:center;backdrop-filter:blur(6px);background:#0003;${FONT}`,
    );
    const box = add(
      card,
      "max-width:70%;padding:24px 32px;border-radius:12px;background:#333e;color:#fff;text-align:center;box-shadow:0 4px 24px #0006;",
    );
    add(box, "font-size:28px;font-weight:600;", title);
    if (description) add(box, "margin-top:8px;color:#ddd;", description);
    showFor(card, duration);
  },

  hide() {
    root.replaceChildren();
    pointer = undefined;
    host.remove();
  },
};

(globalThis as { __playhouseOverlay?: unknown }).__playhouseOverlay = overlay;
