// Functions that run in the page. Their source text is sent, so they must not refer to anything outside of themselves.
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

interface FileContent {
  name: string;
  type: string;
  /** The content in Base64. */
  data: string;
}

/** Sets the files of a file input, or of the input of a label, from their contents. */
export const setFiles = (element: Element, files: FileContent[]) => {
  const input = element instanceof HTMLLabelElement ? element.control : element;
  if (!(input instanceof HTMLInputElement) || input.type !== "file") throw new Error("Node is not an HTMLInputElement of type file");
  if (files.length > 1 && !input.multiple) throw new Error("Non-multiple file input can only accept single file");
  const transfer = new DataTransfer();
  for (const { name, type, data } of files) {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    transfer.items.add(new File([bytes], name, { type }));
  }
  input.files = transfer.files;
  input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
};

export const selectText = (element: any) => {
  if (element.select) return element.select();
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection() as Selection;
  selection.removeAllRanges();
  selection.addRange(range);
};

export const dispatchEvent = (element: Element, [type, init]: [string, EventInit]) => {
  const kinds: [RegExp, string][] = [
    [/^(click|dblclick|mouse|contextmenu|auxclick)/, "MouseEvent"],
    [/^pointer/, "PointerEvent"],
    [/^key/, "KeyboardEvent"],
    [/^(focus|blur)/, "FocusEvent"],
    [/^(drag|drop)/, "DragEvent"],
    [/^touch/, "TouchEvent"],
    [/^wheel/, "WheelEvent"],
    [/^(input|beforeinput)$/, "InputEvent"],
  ];
  const kind = kinds.find(([pattern]) => pattern.test(type))?.[1] ?? "Event";
  element.dispatchEvent(new (globalThis as any)[kind](type, { bubbles: true, cancelable: true, composed: true, ...init }));
};

export const blur = (element: HTMLElement) => element.blur();
export const innerHTML = (element: Element) => element.innerHTML;
export const valueOrText = (element: any) =>
  /^(input|textarea)$/i.test(element.nodeName) ? element.value : (element.textContent ?? "").trim();
export const textContents = (elements: Element[]) => elements.map((element) => element.textContent ?? "");
export const innerTexts = (elements: HTMLElement[]) => elements.map((element) => element.innerText ?? "");
export const optionCount = (select: HTMLSelectElement) => select.options?.length ?? 0;
export const optionValue = (select: HTMLSelectElement, index: number) => (select.options[index] as HTMLOptionElement).value;

export const title = () => document.title;
export const content = () => {
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  return type + (document.documentElement?.outerHTML ?? "");
};
export const writeDocument = (text: string) => {
  document.open();
  document.write(text);
  document.close();
};

interface Tag {
  tag: string;
  content?: string;
  address: { src?: string; href?: string; rel?: string };
  type?: string;
}

/** Adds a script or a style sheet to the document. Resolves when it is loaded. */
export const addTag = ({ tag, content, address, type }: Tag) =>
  new Promise<void>((resolve, reject) => {
    const element = document.createElement(tag) as HTMLScriptElement;
    if (type) element.type = type;
    const url = address.src ?? address.href;
    if (url) {
      Object.assign(element, address);
      element.onload = () => resolve();
      element.onerror = () => reject(new Error(`Failed to load ${url}`));
    } else {
      element.textContent = content ?? "";
    }
    document.head.append(element);
    if (!url) resolve();
  });
