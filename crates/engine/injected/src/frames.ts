// Our code in the document around a frame meets ours in the frame's document, if both are of one origin.

import type { Entry, Question } from "./snapshot";

/** Our code in another document. */
export interface Other {
  /** The id of the frame that shows it. */
  readonly frame: string;
  snapshot(question: Question): Entry[] | null;
}

interface Self extends Other {
  readonly document: Document;
}

/** Who this is, and how those find each other that see nothing of each other's world: by events of a type that no page can know. */
interface Introduction {
  frame: string;
  meeting?: string;
}

type Ask = (question: string) => string;
type Met = (frame: string, ask: Ask) => void;

let meetAt: string | undefined;

/** Tells our code who it is. */
export function introduce({ frame, meeting }: Introduction, snapshot: Other["snapshot"]): Self {
  if (meeting && !meetAt) {
    meetAt = meeting;
    const ask: Ask = (question) => JSON.stringify(snapshot(JSON.parse(question) as Question));
    document.addEventListener(meeting, (event) => (event as CustomEvent<Met>).detail(frame, ask));
  }
  return { frame, document, snapshot };
}

/** Our code in the document of a frame; none that has not been told who it is. */
export function coreIn(e: HTMLIFrameElement): Other | undefined {
  const there = e.contentDocument;
  if (!there) return undefined;
  if (!meetAt) {
    const self = (there.defaultView as { __playhouseCore?: { self?: Self } } | null)?.__playhouseCore?.self;
    // A window may outlive its first document.
    return self?.document === there ? self : undefined;
  }
  let found: Other | undefined;
  const met: Met = (frame, ask) => {
    found = { frame, snapshot: (question) => JSON.parse(ask(JSON.stringify(question))) as Entry[] | null };
  };
  there.dispatchEvent(new CustomEvent(meetAt, { detail: met }));
  return found;
}
