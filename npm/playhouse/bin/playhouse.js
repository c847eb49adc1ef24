#!/usr/bin/env node
// Starts the program of this platform. Where Node can (23.11 and newer, not on Windows), the program replaces this process; elsewhere
// this process passes stdio, signals and the exit code through.
"use strict";

const { platform, arch, argv, execve } = process;
const name = `@playhouse/${platform}-${arch}`;
const program = () => require.resolve(`${name}/bin/playhouse${platform === "win32" ? ".exe" : ""}`);

let path;
try {
  path = program();
} catch {
  console.error(
    `playhouse: the package ${name} is missing. Either there is no build for this platform, or the package was installed without ` +
      "optional dependencies: run `npm install --include=optional`, or build it from source with `cargo install`.",
  );
  process.exit(1);
}

const run = () => {
  const child = require("node:child_process").spawn(path, argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) {
    // A terminal sends SIGINT and SIGQUIT to both. (process.stdin would make the stdin of the program non-blocking.)
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
