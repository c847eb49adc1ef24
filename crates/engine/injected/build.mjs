// Bundles the injected scripts. The fields of a form are properties of the form that shadow those of the element: if a field has the name
// `children`, `form.children` is that field, in isolated worlds too. The bundles therefore access each name of `src/own.json` with a
// prefix, such as `$children`. `src/own.ts` defines these properties.
import { build, transform } from "esbuild";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gunzipSync, gzipSync } from "node:zlib";
import { asNatives } from "./natives.mjs";

const names = JSON.parse(readFileSync("src/own.json", "utf8"));

const common = { bundle: true, format: "iife", target: "es2022", charset: "utf8", minifyWhitespace: true, minifySyntax: true };

await build({ ...common, entryPoints: ["src/databases.entry.ts"], outfile: "dist/databases.js" });

await build({ ...common, minifyIdentifiers: true, entryPoints: ["src/vitals.entry.ts"], outfile: "dist/vitals.js" });

await build({ ...common, minifyIdentifiers: true, entryPoints: ["src/resource.entry.ts"], outfile: "dist/resource.js" });

// Scripts of pages must not detect it, so it leaves nothing behind but the functions that it replaces.
await build({ ...common, minifyIdentifiers: true, entryPoints: ["src/timers.entry.ts"], outfile: "dist/timers.js" });

const core = {
  ...common,
  entryPoints: ["src/core.entry.ts"],
  mangleProps: new RegExp(`^(${names.join("|")})$`),
  mangleCache: Object.fromEntries(names.map((name) => [name, `$${name}`])),
};

// In WebKit, where the core runs in the world of the page, the parts of asynchronous functions must call the `Promise` of the core.
const supported = { "async-await": false };
await build({ ...core, supported, minifyIdentifiers: true, outfile: "dist/core.js" });
await build({ ...core, minifyIdentifiers: true, entryPoints: ["src/dom_snapshot.entry.ts"], outfile: "dist/dom_snapshot.js" });
const banner = {
  js: "/* Contains Readability (https://github.com/mozilla/readability), Copyright (c) 2010 Arc90 Inc, Apache License 2.0. */",
};
await build({
  ...core,
  minifyIdentifiers: true,
  legalComments: "none",
  banner,
  entryPoints: ["src/reader.entry.ts"],
  outfile: "dist/reader.js",
});
await build({ ...core, minifyIdentifiers: true, entryPoints: ["src/overlay.entry.ts"], outfile: "dist/overlay.js" });

await build({ ...core, minifyIdentifiers: true, entryPoints: ["src/devtools.entry.ts"], outfile: "dist/devtools.js" });
await build({ ...core, minifyIdentifiers: true, entryPoints: ["src/visible.entry.ts"], outfile: "dist/visible.js" });
await build({ ...core, minifyIdentifiers: true, entryPoints: ["src/audit.entry.ts"], outfile: "dist/audit.js" });

// axe-core is compressed and otherwise unchanged. Versions of zlib compress differently, so a file with the same content is kept.
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"));
const isSame = existsSync("dist/axe.js.gz") && gunzipSync(readFileSync("dist/axe.js.gz")).equals(axe);
if (!isSame) writeFileSync("dist/axe.js.gz", gzipSync(axe, { level: 9 }));

// Keys of the objects that Rust reads must not be renamed.
for (const bundle of ["core", "devtools"]) {
  const [renamed] = readFileSync(`dist/${bundle}.js`, "utf8").match(/[{,]\$[a-zA-Z]+:|\.\$[a-zA-Z]+=(?!=)/) ?? [];
  if (renamed)
    throw new Error(`The build renames the property ${renamed}, because its name is in src/own.json. Quote its name in the source.`);
}

// The bundle for Firefox calls the native getters and methods, which fields of a form do not shadow, so it does not need src/own.ts.
const withoutOwn = { name: "own", setup: ({ onLoad }) => onLoad({ filter: /[\\/]own\.ts$/ }, () => ({ contents: "" })) };
const { outputFiles } = await build({ ...core, plugins: [withoutOwn], write: false, outfile: "core.js" });
const { code } = await transform(asNatives(outputFiles[0].text, names), { target: "es2022", charset: "utf8", minify: true });
writeFileSync("dist/core.firefox.js", code);
