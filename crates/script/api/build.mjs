// Bundles the API of code that drives the page: one expression, a function of what `src/native.d.ts` declares.
import { build } from "esbuild";

await build({
  bundle: true,
  format: "iife",
  globalName: "api",
  target: "es2022",
  charset: "utf8",
  minifyWhitespace: true,
  minifySyntax: true,
  entryPoints: ["src/api.entry.ts"],
  outfile: "dist/api.js",
  banner: { js: "((native, currentPage, timeouts) => {" },
  footer: { js: "return api;\n})" },
});
