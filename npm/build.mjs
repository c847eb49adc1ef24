// Creates npm packages in target/npm: the launcher, and one package for each program. Arguments: [TARGET=]PROGRAM ...
// A program without a target is for this platform.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkProgram, findTarget, hostTarget, programName, repository, root, targets, version } from "../packaging/release.mjs";

const programs = process.argv.slice(2).map((argument) => {
  const [, target, program] = /^(?:([\w-]+)=)?(.+)$/.exec(argument);
  return { target: target ? findTarget(target) : hostTarget(), program };
});
if (!programs.length) throw new Error("usage: build.mjs [TARGET=]PROGRAM ...");

const output = join(root, "target/npm");
const write = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
const copy = (files, folder) => files.map((file) => copyFileSync(join(root, file), join(folder, file)));
const pack = (folder) =>
  execFileSync("npm", ["pack", "--silent", "--pack-destination", output], { cwd: folder, shell: process.platform === "win32" });

rmSync(output, { recursive: true, force: true });

const main = join(output, "playhouse");
cpSync(join(root, "npm/playhouse"), main, { recursive: true });
const manifest = JSON.parse(readFileSync(join(main, "package.json"), "utf8"));
manifest.version = version;
manifest.optionalDependencies = Object.fromEntries(targets.map(({ npm }) => [`${manifest.name}-${npm}`, version]));
write(join(main, "package.json"), manifest);
copy(["README.md", "LICENSE", "NOTICE"], main);
pack(main);

for (const { target, program } of programs) {
  checkProgram(program, target);
  const folder = join(output, target.npm);
  mkdirSync(join(folder, "bin"), { recursive: true });
  copyFileSync(program, join(folder, "bin", programName(target)));
  chmodSync(join(folder, "bin", programName(target)), 0o755);
  copy(["LICENSE", "NOTICE"], folder);
  const [os, cpu] = target.npm.split("-");
  write(join(folder, "package.json"), {
    name: `${manifest.name}-${target.npm}`,
    version,
    description: `The program of playhouse for ${target.target}`,
    license: manifest.license,
    // `npm publish --provenance` compares it with the repository of the workflow.
    repository: { type: "git", url: `git+${repository}.git` },
    os: [os],
    cpu: [cpu],
    // A static program also runs where glibc is older than that of the builds; the launcher selects it then.
    ...(target.libc === "glibc" ? { libc: ["glibc"] } : {}),
    files: ["bin", "NOTICE"],
    preferUnplugged: true,
    publishConfig: { access: "public" },
  });
  pack(folder);
}
console.log(output);
