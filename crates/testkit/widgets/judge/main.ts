// What a person can act on and read in a page, found without the scripts of the server. It is the first script of each page.
import { recordListeners } from "./listeners";
import { nameOf, squash, statesOf, fieldValue } from "./names";
import { isPainted } from "./sight";
import { findTargets, labelsOf, rank, rolesOf, writtenRole } from "./targets";
import { findTexts } from "./texts";
import { children, contains, elementAt, elements, isElement, pathOf, recordRoots } from "./tree";

recordListeners();
recordRoots();

/** The elements of the refs of a snapshot. */
const shown = new Map<string, Element>();

/** A short description, which is the same in each run. */
function describe(element: Element): string {
  const attributes = ["role", "type", "aria-label", "title"]
    .flatMap((name) => (element.getAttribute(name) ? [`${name}="${element.getAttribute(name)}"`] : []))
    .join(" ");
  const [first = ""] = (element.getAttribute("class") ?? "").split(/\s+/).filter((name) => !/[0-9]{2}|[A-Z0-9]{5}|^css-|[:[]/.test(name));
  const text = (squash(element.textContent ?? "") || nameOf(element)).slice(0, 30);
  const tag = `${element.localName}${first && `.${first}`}`;
  return `<${attributes ? `${tag} ${attributes}` : tag}>${text}`;
}

/** Whether a button or a link has a text in which nothing of its name occurs, so that the name cannot be seen. */
function hasOtherText(element: Element): boolean {
  const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const text = words((element as HTMLElement).innerText ?? "");
  const name = nameOf(element).toLowerCase();
  return element.matches("a, button, [role=button], [role=link]") && text.length > 0 && !text.some((word) => name.includes(word));
}

/** Whether the element of a ref can be seen: it is painted, or drawn by something else that the pointer reaches instead. */
const isSeen = (element: Element, isReached: boolean) =>
  isReached ||
  (isPainted(element) && !hasOtherText(element)) ||
  labelsOf(element).some(isPainted) ||
  children(element).some((child) => isElement(child) && isPainted(child));

const settle = (quiet: number, limit: number) =>
  new Promise<void>((done) => {
    const end = setTimeout(finish, limit);
    let timer = setTimeout(finish, quiet);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(finish, quiet);
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    function finish() {
      observer.disconnect();
      clearTimeout(end);
      clearTimeout(timer);
      done();
    }
  });

const judge = {
  /** Waits until the page stops changing. */
  settle: () => settle(300, 5_000),
  add: (ref: string, element: Element) => void shown.set(ref, element),
  /** The paths of the elements that were added, for the same page in another browser. */
  paths: () => Object.fromEntries([...shown].map(([ref, element]) => [ref, pathOf(element)])),
  /** What the page has, with the refs that stand for each element, best first. `peer` are paths of elements that another server shows. */
  report(peer: string[]) {
    const targets = findTargets();
    const all = new Set(targets.map(({ element }) => element));
    // A box that is drawn elsewhere, such as a transparent checkbox above an image.
    const drawn = targets.filter(({ element, reason }) => element.localName === "input" && reason !== "focusable");
    const reached = new Set(drawn.map(({ element }) => element));
    const refsOf = (element: Element) =>
      [...shown]
        .flatMap(([ref, other]) => {
          const found = rank(element, other, (it) => all.has(it));
          return found === undefined ? [] : [{ ref, found }];
        })
        .sort((one, other) => one.found - other.found)
        .map(({ ref }) => ref);
    return {
      targets: targets.map(({ element, reason }) => ({
        what: describe(element),
        reason,
        roles: rolesOf(element),
        written: writtenRole(element),
        name: nameOf(element),
        states: statesOf(element),
        value: fieldValue(element),
        refs: refsOf(element),
      })),
      texts: findTexts(),
      seen: Object.fromEntries([...shown].map(([ref, element]) => [ref, isSeen(element, reached.has(element))])),
      peer: peer.map((path) => {
        const element = elementAt(path);
        // What neither the pointer nor the keyboard reaches is no control for a person.
        if (!element || !(isPainted(element) || all.has(element))) return null;
        const refs = refsOf(element);
        const inner = [...shown].filter(([, other]) => all.has(other) && contains(element, other)).map(([ref]) => ref);
        return rolesOf(element).length > 0 ? refs : [...refs, ...inner];
      }),
    };
  },
  count: () => [...elements(document.documentElement)].length,
};

export type Judge = typeof judge;
Object.assign(window, { judge });
