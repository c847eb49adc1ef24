// Bundles the API of client code into one expression: a function whose parameters are declared in `src/native.d.ts`.
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
  banner: { js: "((native, currentPage, timeouts, codeName) => {" },
  footer: { js: "return api;\n})" },
});
