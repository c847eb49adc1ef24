function frameAt(x, y) {
  let e = document.elementFromPoint(Number(x), Number(y));
  for (;;) {
    const inner = e?.shadowRoot?.elementFromPoint(Number(x), Number(y));
    if (!inner || inner === e) break;
    e = inner;
  }
  if (!e || !/^(iframe|frame|object|embed)$/.test(e.localName) || !e.contentWindow) return null;
  const box = e.getBoundingClientRect();
  const style = getComputedStyle(e);
  const scaleX = e.offsetWidth ? box.width / e.offsetWidth : 1;
  const scaleY = e.offsetHeight ? box.height / e.offsetHeight : 1;
  const left = box.x + (e.clientLeft + Number.parseFloat(style.paddingLeft)) * scaleX;
  const top = box.y + (e.clientTop + Number.parseFloat(style.paddingTop)) * scaleY;
  return [e.contentWindow, [left, top, scaleX, scaleY].join()];
}
