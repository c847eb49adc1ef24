// What elements are and do by themselves, under names that no field of a form has: `build.mjs` writes `e.$children` for `e.children`.

import names from "./own.json";

const KINDS = [
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

for (const { prototype } of KINDS) {
  for (const name of names) {
    const property = Object.getOwnPropertyDescriptor(prototype, name);
    if (property) Object.defineProperty(prototype, `$${name}`, property);
  }
}
