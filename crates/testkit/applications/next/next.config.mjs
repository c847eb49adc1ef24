// The packages are installed two folders above.
export default {
  turbopack: { root: new URL("../../", import.meta.url).pathname },
  outputFileTracingRoot: new URL("../../", import.meta.url).pathname,
};
