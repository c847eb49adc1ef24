// Writes target/release-files/playhouse-TARGET.tar.gz, which the installer, `cargo binstall` and Homebrew download. Arguments: TARGET PROGRAM
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkProgram, findTarget, programName, root } from "./release.mjs";

const [name, program] = process.argv.slice(2);
if (!program) throw new Error("usage: archive.mjs TARGET PROGRAM");
const target = findTarget(name);
checkProgram(program, target);

const output = join(root, "target/release-files");
const folder = `playhouse-${name}`;
rmSync(join(output, folder), { recursive: true, force: true });
mkdirSync(join(output, folder), { recursive: true });
for (const file of ["README.md", "LICENSE", "NOTICE"]) copyFileSync(join(root, file), join(output, folder, file));
const own = join(output, folder, programName(target));
copyFileSync(program, own);
chmodSync(own, 0o755);
// Relative paths: tar of Windows reads a colon as the name of a host.
execFileSync("tar", ["-czf", `${folder}.tar.gz`, folder], { cwd: output });
rmSync(join(output, folder), { recursive: true });
console.log(join(output, `${folder}.tar.gz`));
