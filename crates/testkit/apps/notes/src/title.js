// A module of its own, which takes its own hot updates: a test changes this line and looks at the page.
export const title = "Notes";

export function show() {
  document.querySelector("h1").textContent = title;
}

if (import.meta.hot) {
  import.meta.hot.accept((updated) => updated?.show());
}
