function preventClicks(x, y, last) {
  const target = document.elementFromPoint(Number(x), Number(y));
  // The events of a frame do not pass through this document.
  if (target && /^(iframe|frame|object|embed)$/.test(target.localName)) return "frame";
  const types = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick"];
  let presses = 0;
  const stop = () => {
    for (const type of types) removeEventListener(type, prevent, { capture: true });
  };
  const prevent = (event) => {
    if (event.type === "pointerdown") presses += 1;
    if (presses >= Number(last)) return stop();
    event.stopImmediatePropagation();
    if (!event.type.startsWith("pointer")) event.preventDefault();
  };
  for (const type of types) addEventListener(type, prevent, { capture: true });
  setTimeout(stop, 1000);
  return "prevented";
}
