// Adds the functions of highlights, annotations and the recorder to `globalThis.__playhouseCore.call`. Documents get this script when one of
// them is needed, and keep it.
import "./own";
import { annotate, annotations, freezeAnnotations, removeAnnotations } from "./devtools/annotate";
import { core, type Core } from "./devtools/core";
import { hideHighlights, highlight } from "./devtools/highlight";
import { recordActionsOf, startRecorder, stopRecorder, takeRecords } from "./devtools/recorder";
import { view } from "./devtools/view";

const functions: Record<string, (argument: never) => unknown> = {
  annotate,
  annotations,
  freezeAnnotations,
  removeAnnotations,
  hideHighlights,
  highlight,
  startRecorder,
  stopRecorder,
  takeRecords,
  view,
};

/** The first character of a result is the character that stands for quotes in it: here the quote itself. */
const serialize = (answer: unknown): string => '"' + JSON.stringify(answer ?? null);

function extend(target: Core): void {
  const { call } = target;
  target.hasDevtools = true;
  target.call = (name, argument) => {
    const own = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!own) return recordActionsOf(name, argument, () => call(name, argument));
    const answer = own(argument as never);
    return answer instanceof Promise ? answer.then(serialize) : serialize(answer);
  };
}

if (!core().hasDevtools) extend(core());
