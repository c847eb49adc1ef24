// Bundles the script of the dashboard.
import { build } from "esbuild";

await build({
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: true,
  entryPoints: ["src/dashboard.entry.ts"],
  outfile: "dist/dashboard.js",
});
