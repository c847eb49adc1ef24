// Defines aliases of the native members of nodes that fields of a form cannot shadow. `build.mjs` replaces `e.children` by `e.$children`.

import names from "./own.json";

const INTERFACES = [
  EventTarget,
  Node,
  Element,
  Document,
  DocumentFragment,
  CharacterData,
  Text,
  HTMLElement,
  HTMLButtonElement,
  HTMLInputElement,
  HTMLMeterElement,
  HTMLOutputElement,
  HTMLProgressElement,
  HTMLSelectElement,
  HTMLTextAreaElement,
  SVGElement,
  MathMLElement,
  Range,
  DOMTokenList,
];

for (const { prototype } of INTERFACES) {
  for (const name of names) {
    const property = Object.getOwnPropertyDescriptor(prototype, name);
    if (property) Object.defineProperty(prototype, `$${name}`, property);
  }
}
