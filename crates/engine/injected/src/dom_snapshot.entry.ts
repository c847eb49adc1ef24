// Defines `globalThis.__playhouseDomSnapshot`: the DOM of a document in the format of Playwright's traces, from which the trace viewer
// renders the document. An element is `[name, attributes, ...children]`, a text is a string; attributes with names such as
// `__playwright_value_` hold the state that attributes of HTML do not. Scripts of the engine call it through the core.
import "./own";
import type { Services } from "./core.entry";

interface Question {
  /** The prefix of the placeholders of frames. The engine replaces the placeholder, which ends with a handle, by the frame's id. */
  token: string;
  /** The largest size in UTF-16 units; the rest of the document is left out. */
  room: number;
  /** The point of an action, and the call that acts, with which the element there is marked. */
  target?: { x: number; y: number; call: string };
}

type Tree = string | [string, Record<string, string>, ...Tree[]];

const MAX_DEPTH = 1_000;
const MAX_ATTRIBUTE_LENGTH = 500_000;
const LEFT_OUT = new Set(["SCRIPT", "NOSCRIPT"]);
const FRAMES = new Set(["IFRAME", "FRAME"]);
/** Links that would load more than the document shows. */
const HINTS = /\b(preload|prefetch|modulepreload|preconnect|dns-prefetch|prerender)\b/i;

/** The number of rules of each style sheet when it was first seen: later sheets with another number were modified by scripts. */
const rulesAtFirst = new WeakMap<CSSStyleSheet, number>();

function snapshot({ token, room, target }: Question, { keep, isPassword, marked }: Services) {
  const started = performance.now();
  const frames: number[] = [];
  const overrides: { url: string; content: string }[] = [];
  const defined = new Set<string>();
  const hit = target && elementAt(document, target.x, target.y);
  let left = room;
  let count = 0;

  function text(value: string): string {
    left -= value.length;
    count++;
    return value;
  }

  function styleSheet(sheet: CSSStyleSheet): Tree {
    count++;
    const rules = textOf(sheet);
    left -= rules.length;
    return ["template", { "__playwright_style_sheet_": rules }];
  }

  function children(node: Node, depth: number): Tree[] {
    const all: Tree[] = [];
    if (depth > MAX_DEPTH) return all;
    for (let child = node.firstChild; child && left > 0; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE) all.push(text(child.nodeValue ?? ""));
      else if (child.nodeType === Node.ELEMENT_NODE) {
        const tree = element(child as Element, depth + 1);
        if (tree) all.push(tree);
      }
    }
    return all;
  }

  function shadowOf(root: ShadowRoot, depth: number): Tree {
    const content = [...adopted(root).map(styleSheet), ...children(root, depth)];
    count++;
    return ["template", { "__playwright_shadow_root_": "open" }, ...content];
  }

  function element(e: Element, depth: number): Tree | undefined {
    const name = e.namespaceURI === "http://www.w3.org/1999/xhtml" ? e.localName.toUpperCase() : e.localName;
    if (LEFT_OUT.has(name) || (name === "script" && e.namespaceURI?.endsWith("svg"))) return;
    if (name === "META" && /^content-security-policy/i.test(e.getAttribute("http-equiv") ?? "")) return;
    const rel = name === "LINK" ? (e.getAttribute("rel") ?? "") : "";
    if (HINTS.test(rel)) return;
    const attributes = attributesOf(e, name);
    const content: Tree[] = [];
    if (name === "HEAD") {
      count++;
      content.push(["BASE", { "href": document.baseURI }]);
    }
    if (e.shadowRoot) content.push(shadowOf(e.shadowRoot, depth + 1));
    if (name === "STYLE") {
      const rules = styleText(e as HTMLStyleElement);
      if (rules) content.push(text(rules));
    } else if (name === "LINK" && /\bstylesheet\b/i.test(rel)) {
      recordOverride((e as HTMLLinkElement).sheet);
    } else if (name !== "TEXTAREA" && !FRAMES.has(name)) {
      content.push(...children(e, depth));
    }
    if (name === "BODY") {
      content.push(...adopted(document).map(styleSheet));
      if (defined.size) attributes["__playwright_custom_elements__"] = [...defined].join(",");
    }
    if (name.includes("-") && e.matches(":defined")) defined.add(e.localName);
    left -= name.length;
    count++;
    return [name, attributes, ...content];
  }

  function attributesOf(e: Element, name: string): Record<string, string> {
    const result: Record<string, string> = {};
    const hides = name === "INPUT" && isPassword(e);
    const shown = (value: string): string => (hides ? marked(value) : value);
    for (const { name: attribute, value } of e.attributes) {
      const key = attribute.toLowerCase();
      if (FRAMES.has(name) && (key === "src" || key === "srcdoc" || key === "sandbox")) continue;
      if (key === "nonce" || key === "integrity" || key.startsWith("__playwright") || value.length > MAX_ATTRIBUTE_LENGTH) continue;
      const written = key.startsWith("on") ? "" : key === "value" ? shown(value) : value;
      left -= attribute.length + written.length;
      result[attribute] = written;
    }
    if (FRAMES.has(name)) {
      const handle = keep(e);
      frames.push(handle);
      result["src"] = `/snapshot/${token}${handle}.`;
    }
    if (FRAMES.has(name) || name === "CANVAS") {
      const { left, top, right, bottom } = e.getBoundingClientRect();
      result["__playwright_bounding_rect__"] = JSON.stringify({ left, top, right, bottom });
    }
    if (name === "INPUT" || name === "TEXTAREA") {
      const field = e as HTMLInputElement;
      if (field.type !== "file") result["__playwright_value_"] = shown(field.value);
      if (field.type === "checkbox" || field.type === "radio") result["__playwright_checked_"] = String(field.checked);
    }
    if (name === "OPTION") result["__playwright_selected_"] = String((e as HTMLOptionElement).selected);
    if (name === "IMG") {
      const image = e as HTMLImageElement;
      const parent = e.parentElement;
      if (image.currentSrc && (image.srcset || parent?.localName === "picture")) result["__playwright_current_src__"] = image.currentSrc;
    }
    if (name === "DIALOG" && (e as HTMLDialogElement).open) {
      delete result["open"];
      result["__playwright_dialog_open_"] = e.matches(":modal") ? "modal" : "true";
    }
    if (e.hasAttribute("popover") && matches(e, ":popover-open")) result["__playwright_popover_open_"] = "true";
    // Fields of a form shadow its properties.
    for (const [side, attribute] of [
      [e.scrollTop, "__playwright_scroll_top_"],
      [e.scrollLeft, "__playwright_scroll_left_"],
    ] as const)
      if (typeof side === "number" && side) result[attribute] = String(side);
    if (e === hit && target) result["__playwright_target__"] = target.call;
    return result;
  }

  function recordOverride(sheet: CSSStyleSheet | null): void {
    const rules = sheet && rulesOf(sheet);
    if (!sheet?.href || !rules) return;
    const first = rulesAtFirst.get(sheet);
    if (first === undefined) rulesAtFirst.set(sheet, rules.length);
    else if (first !== rules.length) overrides.push({ url: sheet.href, content: textOf(sheet) });
  }

  const root = document.documentElement as Element | null;
  const html = root ? (element(root, 0) ?? ["HTML", {}]) : ["HTML", {}];
  return {
    html,
    count,
    frames,
    overrides,
    doctype: document.doctype?.name,
    url: location.href,
    viewport: { width: innerWidth, height: innerHeight },
    collectionTime: performance.now() - started,
  };
}

/** Returns the innermost element at a point, also in shadow roots. */
function elementAt(root: DocumentOrShadowRoot, x: number, y: number): Element | null {
  const found = root.elementFromPoint(x, y);
  const shadow = found?.shadowRoot;
  return (shadow && shadow !== root && elementAt(shadow, x, y)) || found;
}

function matches(e: Element, selector: string): boolean {
  try {
    return e.matches(selector);
  } catch {
    // An older browser.
    return false;
  }
}

function adopted(root: DocumentOrShadowRoot): CSSStyleSheet[] {
  try {
    return [...root.adoptedStyleSheets];
  } catch {
    // Another world of the browser does not provide them.
    return [];
  }
}

/** Returns the rules of a style sheet, or undefined if another origin owns it. */
function rulesOf(sheet: CSSStyleSheet): CSSRuleList | undefined {
  try {
    return sheet.cssRules;
  } catch {
    return undefined;
  }
}

function textOf(sheet: CSSStyleSheet): string {
  return [...(rulesOf(sheet) ?? [])].map(({ cssText }) => cssText).join("\n");
}

/** Returns the text of a style element, or its rules if scripts inserted them. */
function styleText(e: HTMLStyleElement): string {
  const text = e.textContent ?? "";
  return text.trim() || !e.sheet ? text : textOf(e.sheet);
}

Object.defineProperty(globalThis, "__playhouseDomSnapshot", { value: snapshot, configurable: true });
