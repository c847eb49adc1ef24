// Makes the npm packages of this platform in target/npm: build.mjs PROGRAM.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";

/** The platforms that a release is built for. */
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

const here = dirname(fileURLToPath(import.meta.url));
const [program] = process.argv.slice(2);
if (!program) throw new Error("usage: build.mjs PROGRAM");
const { platform, arch } = process;
const output = join(here, "../target/npm");
const version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim().split(" ").pop();
const write = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

rmSync(output, { recursive: true, force: true });

const main = join(output, "playhouse");
cpSync(join(here, "playhouse"), main, { recursive: true });
const manifest = JSON.parse(readFileSync(join(main, "package.json"), "utf8"));
manifest.version = version;
manifest.optionalDependencies = Object.fromEntries(PLATFORMS.map((name) => [`@playhouse/${name}`, version]));
write(join(main, "package.json"), manifest);
for (const file of ["README.md", "LICENSE"]) copyFileSync(join(here, "..", file), join(main, file));

const own = join(output, `${platform}-${arch}`);
const name = platform === "win32" ? "playhouse.exe" : "playhouse";
mkdirSync(join(own, "bin"), { recursive: true });
copyFileSync(program, join(own, "bin", name));
chmodSync(join(own, "bin", name), 0o755);
copyFileSync(join(here, "../LICENSE"), join(own, "LICENSE"));
write(join(own, "package.json"), {
  name: `@playhouse/${platform}-${arch}`,
  version,
  description: `The program of playhouse for ${platform} on ${arch}`,
  license: manifest.license,
  os: [platform],
  cpu: [arch],
  ...(platform === "linux" ? { libc: ["glibc"] } : {}),
  files: ["bin"],
  preferUnplugged: true,
});

for (const folder of [main, own]) execFileSync("npm", ["pack", "--silent", "--pack-destination", output], { cwd: folder });
console.log(output);
