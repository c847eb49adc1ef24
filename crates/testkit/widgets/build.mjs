// build.mjs OUTPUT [PAGES…]: builds the pages of this folder, or only these, and the judge, which is the first script of each page.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const [folder = "", ...only] = process.argv.slice(2);
const output = resolve(folder);
const files = readdirSync(join(here, "pages"));
const names = files.map((file) => basename(file, extname(file)));

if (only.length === 0) rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const common = { bundle: true, minify: true, logLevel: "error", absWorkingDir: here };
await build({ ...common, entryPoints: ["judge/main.ts"], outfile: join(output, "judge.js"), format: "iife" });
let failed = 0;
for (const file of files) {
  if (only.length > 0 && !only.includes(basename(file, extname(file)))) continue;
  const built = build({
    ...common,
    entryPoints: [join("pages", file)],
    outdir: output,
    format: "esm",
    jsx: "automatic",
    target: "es2022",
    define: {
      "process.env.NODE_ENV": '"production"',
      "process.env": "{}",
      "__VUE_OPTIONS_API__": "true",
      "__VUE_PROD_DEVTOOLS__": "false",
      "__VUE_PROD_HYDRATION_MISMATCH_DETAILS__": "false",
    },
    alias: { "vue": "vue/dist/vue.esm-bundler.js" },
    loader: {
      ".woff": "dataurl",
      ".woff2": "dataurl",
      ".ttf": "dataurl",
      ".eot": "empty",
      ".svg": "dataurl",
      ".png": "dataurl",
      ".gif": "dataurl",
    },
  });
  // The errors of all pages are printed.
  await built.catch(() => (failed += 1));
}
if (failed > 0) process.exit(1);
const written = readdirSync(output);
for (const name of names) {
  const style = written.includes(`${name}.css`) ? `<link rel=stylesheet href=${name}.css>` : "";
  writeFileSync(
    join(output, `${name}.html`),
    `<!doctype html><html lang=en><meta charset=utf-8><title>${name}</title><script src=judge.js></script>${style}<body><main id=root></main><script type=module src=${name}.js></script>`,
  );
}
writeFileSync(join(output, "ready"), names.join("\n"));
