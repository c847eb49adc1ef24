// What all packages share: the platforms of releases, the version, and the rules for programs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * The platforms of releases: the Rust target, the npm package, the C library, the lowest version of glibc, the GitHub runner, the Debian
 * architecture.
 */
export const targets = JSON.parse(readFileSync(join(root, "packaging/targets.json"), "utf8"));

/** The version of the workspace. */
export const version = /^version = "(.+)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];

/** The address of the repository, without a slash at the end. */
export const repository = /^repository = "(.+)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];

/** The largest program that is released, in bytes. */
const MAX_SIZE = 36e6;

/** Returns the file name of the program on this target. */
export const programName = ({ target }) => (target.includes("windows") ? "playhouse.exe" : "playhouse");

/** Returns the target of this machine. */
export const hostTarget = () => {
  const { platform, arch, report } = process;
  const libc = platform === "linux" && !report.getReport().header.glibcVersionRuntime ? "-musl" : "";
  return targets.find(({ npm }) => npm === `${platform}-${arch}${libc}`) ?? assert.fail(`no release for ${platform}-${arch}${libc}`);
};

/** Returns the target of this name. */
export const findTarget = (name) => targets.find(({ target }) => target === name) ?? assert.fail(`no release for ${name}`);

/** Fails if the program is too large, or if it runs here and has another version. */
export const checkProgram = (program, target) => {
  const { size } = statSync(program);
  assert(size <= MAX_SIZE, `${program} has ${(size / 1e6).toFixed(1)} MB; at most ${MAX_SIZE / 1e6} MB are allowed`);
  if (target === hostTarget()) {
    assert.equal(execFileSync(program, ["--version"], { encoding: "utf8" }), `Version ${version}\n`, program);
  }
};
