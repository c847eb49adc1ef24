#!/usr/bin/env node
// Starts the program of this platform. The program replaces this process if Node supports that (23.11 and newer, not on Windows); otherwise
// this process passes stdio, signals and the exit code through.
"use strict";

const { platform, arch, argv, execve } = process;

/** Returns the path of the program in a package, or undefined if the package is not installed. */
const find = (name) => {
  try {
    return require.resolve(`playhouse-mcp-${name}/bin/playhouse${platform === "win32" ? ".exe" : ""}`);
  } catch {}
};

/** Returns whether the C library is glibc, of at least the version in packaging/targets.json, which the build for glibc needs. */
const hasGlibc = () => {
  // Otherwise the report resolves the names of all connections.
  process.report.excludeNetwork = true;
  const [major, minor] = (process.report.getReport().header.glibcVersionRuntime ?? "0.0").split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 35);
};

const name = `${platform}-${arch}`;
let path = find(name);
if (platform === "linux") {
  const musl = find(`${name}-musl`);
  if (!path || (musl && !hasGlibc())) path = musl;
}
if (!path) {
  console.error(
    `playhouse: the package playhouse-mcp-${name} is missing. Either there is no build for this platform, or the package was installed ` +
      "without optional dependencies: run `npm install --include=optional`, or build it from source with `cargo install`.",
  );
  process.exit(1);
}

const run = () => {
  const child = require("node:child_process").spawn(path, argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) {
    // A terminal sends SIGINT and SIGQUIT to both processes. (Accessing process.stdin would make the stdin of the program non-blocking.)
    const toBoth = require("node:tty").isatty(0) && (signal === "SIGINT" || signal === "SIGQUIT");
    process.on(signal, () => toBoth || child.kill(signal));
  }
  child.on("error", (error) => {
    console.error(`playhouse: cannot start ${path}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
};

if (execve && platform !== "win32") {
  process.removeAllListeners("warning");
  try {
    execve(path, [path, ...argv.slice(2)], process.env);
  } catch {
    run();
  }
} else {
  run();
}
