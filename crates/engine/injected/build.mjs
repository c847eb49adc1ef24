// Bundles the page-side code. A form shows its fields as properties of its own, before those that every element has: where a field is
// called `children`, `form.children` is that field, in our world too. So what the source calls by a name of `src/own.json` is called
// `$children` in the bundle, where `src/own.ts` puts it.
import { build, transform } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { asNatives } from "./natives.mjs";

const names = JSON.parse(readFileSync("src/own.json", "utf8"));

const common = { bundle: true, format: "iife", target: "es2022", charset: "utf8", minifyWhitespace: true, minifySyntax: true };

await build({ ...common, entryPoints: ["src/databases.entry.ts"], outfile: "dist/databases.js" });

const core = {
  ...common,
  entryPoints: ["src/core.entry.ts"],
  mangleProps: new RegExp(`^(${names.join("|")})$`),
  mangleCache: Object.fromEntries(names.map((name) => [name, `$${name}`])),
};

await build({ ...core, minifyIdentifiers: true, outfile: "dist/core.js" });
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

// Our own facts must not be renamed on their way to Rust.
const [ours] = readFileSync("dist/core.js", "utf8").match(/[{,]\$[a-zA-Z]+:|\.\$[a-zA-Z]+=(?!=)/) ?? [];
if (ours) throw new Error(`${ours} is a property of our own with a name of src/own.json: put it in quotes`);

// There no name needs another one: each is called as what the browser has for it.
const withoutOwn = { name: "own", setup: ({ onLoad }) => onLoad({ filter: /[\\/]own\.ts$/ }, () => ({ contents: "" })) };
const { outputFiles } = await build({ ...core, plugins: [withoutOwn], write: false, outfile: "core.js" });
const { code } = await transform(asNatives(outputFiles[0].text, names), { target: "es2022", charset: "utf8", minify: true });
writeFileSync("dist/core.firefox.js", code);
