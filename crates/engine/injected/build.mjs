// Bundles the page-side code. A form shows its fields as properties of its own, before those that every element has: where a field is
// called `children`, `form.children` is that field, in our world too. So what the source calls by a name of `src/own.json` is called
// `$children` in the bundle, where `src/own.ts` puts it.
import { build } from "esbuild";
import { readFileSync } from "node:fs";

const names = JSON.parse(readFileSync("src/own.json", "utf8"));

const common = { bundle: true, format: "iife", target: "es2022", charset: "utf8", minifyWhitespace: true, minifySyntax: true };

await build({ ...common, entryPoints: ["src/databases.entry.ts"], outfile: "dist/databases.js" });

await build({
  ...common,
  entryPoints: ["src/core.entry.ts"],
  outfile: "dist/core.js",
  mangleProps: new RegExp(`^(${names.join("|")})$`),
  mangleCache: Object.fromEntries(names.map((name) => [name, `$${name}`])),
});

// Our own facts must not be renamed on their way to Rust.
const [ours] = readFileSync("dist/core.js", "utf8").match(/[{,]\$[a-zA-Z]+:|\.\$[a-zA-Z]+=(?!=)/) ?? [];
if (ours) throw new Error(`${ours} is a property of our own with a name of src/own.json: put it in quotes`);
