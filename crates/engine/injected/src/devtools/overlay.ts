// Elements of Playhouse in the page: in a closed shadow root, outside of the body, without a node in the accessibility tree.

/** Returns an element that covers the viewport, without content and without effect on events. */
export function createOverlay(): { host: HTMLElement; root: ShadowRoot } {
  // A custom element name, because styles of the page do not select it.
  const host = document.createElement("x-playhouse-overlay");
  host.setAttribute("aria-hidden", "true");
  setStyle(host, "all: initial; position: fixed; inset: 0; pointer-events: none; z-index: 2147483647; display: block");
  return { host, root: host.attachShadow({ mode: "closed" }) };
}

/** Adds declarations, whose values have no semicolons, with priority over styles of the page. */
export function setStyle(e: HTMLElement, declarations: string): void {
  const important = declarations.split(";").map((declaration) => `${declaration} !important`);
  e.style.cssText += `; ${important.join("; ")}`;
}

/** Shows an overlay above everything that is in the top layer now, such as modal dialogs. */
export function show(host: HTMLElement): void {
  document.documentElement.append(host);
  if (typeof host.showPopover !== "function") return;
  host.setAttribute("popover", "manual");
  try {
    host.showPopover();
  } catch {
    // The document is not rendered, or not HTML.
    host.removeAttribute("popover");
  }
}
