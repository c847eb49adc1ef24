// The connection between the injected script of a document and that of a frame in it, if both documents have the same origin.

import type { Handle } from "./handles";

/** The injected script of a document, as far as the tree of the document requires it. */
export interface Home {
  readonly document: Document;
  keep(e: Element): Handle;
  refTo(e: Element, role: string, name: string, bound: string, within: string): number;
  /** Begins another snapshot: a complete one, or one as `@playwright/mcp` has it. */
  renew(complete: boolean): void;
  /** Ends it. */
  bindRows(): void;
}

/** The injected script of another document. */
export interface Other extends Home {
  /** The identifier of the frame of the document. */
  readonly frame: string;
}

/** The identity of the script. Scripts in separate worlds find each other by events of a type that pages cannot know. */
interface Identity {
  frame: string;
  meeting?: string;
  /** Whether the script is in the page's world, and documents of frames are observed only by their own scripts. */
  separate?: boolean;
  /** The type of the events of the script that records what an action causes. */
  causes?: string;
}

type OnFound = (frame: string, keep: Home["keep"], refTo: Home["refTo"], renew: Home["renew"], bindRows: Home["bindRows"]) => void;

let discoveryEvent: string | undefined;
let isSeparate = false;

/** Sets the identity of the injected script. */
export function introduce({ frame, meeting, separate }: Identity, home: Home): Other {
  const { keep, refTo, renew, bindRows } = home;
  isSeparate = !!separate;
  if (meeting && !discoveryEvent) {
    discoveryEvent = meeting;
    document.addEventListener(meeting, (event) => (event as CustomEvent<OnFound>).detail(frame, keep, refTo, renew, bindRows));
  }
  return { frame, document, keep, refTo, renew, bindRows };
}

/** Returns whether documents of frames are observed only by their own scripts. */
export function isAlone(): boolean {
  return isSeparate;
}

/** Returns the document of a frame, if it can be observed from this document. */
export function observableIn(e: HTMLIFrameElement): Document | null {
  return isSeparate ? null : e.contentDocument;
}

/** Returns the injected script in the document of a frame; undefined if it has no identity yet. */
export function coreIn(e: HTMLIFrameElement): Other | undefined {
  const inner = e.contentDocument;
  if (!inner) return undefined;
  if (!discoveryEvent) {
    const self = (inner.defaultView as { __playhouseCore?: { self?: Other } } | null)?.__playhouseCore?.self;
    // A window can outlive its first document.
    return self?.document === inner ? self : undefined;
  }
  let found: Other | undefined;
  // Only numbers, strings and elements are passed, because each world has its own wrappers of those.
  const onFound: OnFound = (frame, keep, refTo, renew, bindRows) => {
    found = {
      frame,
      document: inner,
      keep: (e) => keep(e),
      refTo: (...of) => refTo(...of),
      renew: (complete) => renew(complete),
      bindRows: () => bindRows(),
    };
  };
  inner.dispatchEvent(new CustomEvent(discoveryEvent, { detail: onFound }));
  return found;
}
