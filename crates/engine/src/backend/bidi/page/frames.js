function frameOwners() {
  const found = [];
  const look = (root) => {
    for (const e of root.querySelectorAll("*")) {
      if (/^(iframe|frame|object|embed)$/.test(e.localName)) found.push(e);
      if (e.shadowRoot) look(e.shadowRoot);
    }
  };
  look(document);
  globalThis.__playhouseOwners = found;
  return found.map((e) => e.contentWindow);
}
