// A module that accepts its own hot updates. A test changes the next line and reads the page.
export const title = "Notes";

export function show() {
  document.querySelector("h1").textContent = title;
}

if (import.meta.hot) {
  import.meta.hot.accept((updated) => updated?.show());
}
