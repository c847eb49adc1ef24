(() => {
  const out = [];
  const roles = {
    A: "link",
    BUTTON: "button",
    INPUT: "textbox",
    H1: "heading",
    H2: "heading",
    LI: "listitem",
    TD: "cell",
    TH: "columnheader",
    P: "paragraph",
  };
  const walk = (node, depth) => {
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) {
        const text = child.data.trim();
        if (text && !roles[node.tagName]) out.push(" ".repeat(depth) + text);
        continue;
      }
      if (child.nodeType !== 1 || child.tagName === "SCRIPT" || child.tagName === "STYLE") continue;
      const role = roles[child.tagName];
      if (role) {
        if (!child.checkVisibility()) continue;
        const name = child.tagName === "INPUT" ? (child.labels?.[0]?.textContent.trim() ?? "") : child.textContent.trim();
        out.push(`${" ".repeat(depth)}- ${role} "${name}"${child.value ? ": " + child.value : ""}`);
      }
      if (child.shadowRoot) walk(child.shadowRoot, depth + 1);
      if (child.tagName === "IFRAME") {
        if (child.contentDocument?.body) walk(child.contentDocument.body, depth + 1);
      } else walk(child, depth + 1);
    }
  };
  walk(document.body, 0);
  return out.join("\n");
})();
