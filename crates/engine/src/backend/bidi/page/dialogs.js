function nextClick(field) {
  return new Promise((opened) => {
    const clicked = (event) =>
      setTimeout(() => {
        if (event.defaultPrevented || !navigator.userActivation.isActive) return;
        field.removeEventListener("click", clicked);
        opened(field.multiple);
      });
    field.addEventListener("click", clicked);
  });
}
