function itemText(list, item) {
  const clean = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();
  const has = (node) => clean(node.textContent).includes(clean(item));
  const all = [...list.querySelectorAll("*")].filter(has);
  const smallest = all.find((node) => !all.some((other) => other !== node && node.contains(other)));
  return smallest ? smallest.textContent : null;
}
