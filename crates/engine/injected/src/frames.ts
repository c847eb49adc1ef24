// Our code in the document around a frame meets ours in the frame's document, if both are of one origin.

import type { Handle } from "./handles";

/** What the tree of a document is made with: our code in that document. */
export interface Home {
  readonly document: Document;
  keep(e: Element): Handle;
  refTo(e: Element, role: string, name: string): number;
  /** Forgets the refs of the snapshot before. */
  renew(): void;
}

/** Our code in another document. */
export interface Other extends Home {
  /** The id of the frame that shows it. */
  readonly frame: string;
}

/** Who this is, and how those find each other that see nothing of each other's world: by events of a type that no page can know. */
interface Introduction {
  frame: string;
  meeting?: string;
  /** Documents of frames are observed from within only. */
  separate?: boolean;
}

type Met = (frame: string, keep: Home["keep"], refTo: Home["refTo"], renew: Home["renew"]) => void;

let meetAt: string | undefined;
let isSeparate = false;

/** Tells our code who it is. */
export function introduce({ frame, meeting, separate }: Introduction, home: Home): Other {
  const { keep, refTo, renew } = home;
  isSeparate = !!separate;
  if (meeting && !meetAt) {
    meetAt = meeting;
    document.addEventListener(meeting, (event) => (event as CustomEvent<Met>).detail(frame, keep, refTo, renew));
  }
  return { frame, document, keep, refTo, renew };
}

/** The document of a frame, if it can be observed from here. */
export function observableIn(e: HTMLIFrameElement): Document | null {
  return isSeparate ? null : e.contentDocument;
}

/** Our code in the document of a frame; none that has not been told who it is. */
export function coreIn(e: HTMLIFrameElement): Other | undefined {
  const there = e.contentDocument;
  if (!there) return undefined;
  if (!meetAt) {
    const self = (there.defaultView as { __playhouseCore?: { self?: Other } } | null)?.__playhouseCore?.self;
    // A window may outlive its first document.
    return self?.document === there ? self : undefined;
  }
  let found: Other | undefined;
  // Nothing but numbers, texts and elements goes through: each world sees its own wrapper of those.
  const met: Met = (frame, keep, refTo, renew) => {
    found = { frame, document: there, keep: (e) => keep(e), refTo: (e, role, name) => refTo(e, role, name), renew: () => renew() };
  };
  there.dispatchEvent(new CustomEvent(meetAt, { detail: met }));
  return found;
}
