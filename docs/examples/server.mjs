#!/usr/bin/env node
// A server command: starts, restarts, checks and stops a dev server, and prints the result as JSON on stdout.
//   node server.mjs [--start | --restart | --status | --shutdown]
// Change the first two lines, put the file into the folder of your app, and run `playhouse --server-command "node server.mjs"`.
const app = process.env.APP ?? "npm run dev"; // the command that starts your app, which must listen on the port $PORT
const path = process.env.READY_PATH ?? "/"; // a path that responds as soon as the app is ready

import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(import.meta.url);
const folder = process.env.STATE_DIR ?? join(dirname(file), ".dev-server");
const stateFile = join(folder, "state.json");
const logs = {
  stdout: join(folder, "logs", "stdout.log"),
  stderr: join(folder, "logs", "stderr.log"),
  combined: join(folder, "logs", "combined.log"),
};
mkdirSync(dirname(logs.stdout), { recursive: true });

/** Runs the app in the process group of this process and writes its logs: `server.mjs --watch`. */
function watch() {
  const [stdout, stderr, combined] = Object.values(logs).map((name) => createWriteStream(name));
  const child = spawn(app, { shell: true, cwd: dirname(file), stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", (data) => (stdout.write(data), combined.write(data)));
  child.stderr.on("data", (data) => (stderr.write(data), combined.write(data)));
  child.on("close", (code) => process.exit(code ?? 1));
  process.on("SIGTERM", () => {}); // This process exits after the app.
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const tail = (name) => readFileSync(name, "utf8").split("\n").slice(-20).join("\n").trim();
const healthy = (state) =>
  fetch(state.url + path, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  );
const uptime = (state) => Math.max(0, Math.round((Date.now() - Date.parse(state.startedAt)) / 1000));
const facts = ({ url, port, pid, startedAt }) => ({ url, port, pid, startedAt });

/** Sends a signal to the process group of `pid`. Returns whether the group exists. */
function alive({ pid }, signal = 0) {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Returns the state of the running app. The mark in the command line excludes another process with the same id. */
function readState() {
  try {
    const state = JSON.parse(readFileSync(stateFile, "utf8"));
    const command = process.platform === "linux" ? readFileSync(`/proc/${state.pid}/cmdline`, "utf8") : state.mark;
    return command.includes(state.mark) && alive(state) ? state : undefined;
  } catch {
    return undefined;
  }
}

async function launch() {
  const port = await freePort();
  const mark = `--mark=${Date.now()}`;
  for (const name of Object.values(logs)) writeFileSync(name, "");
  const child = spawn(process.execPath, [file, "--watch", mark], {
    detached: true,
    stdio: "ignore",
    env: { ...process.env, PORT: String(port) },
  });
  let code;
  child.on("exit", (status) => (code = status));
  const state = { url: `http://localhost:${port}`, port, pid: child.pid, startedAt: new Date().toISOString(), mark };
  writeFileSync(stateFile, JSON.stringify(state));
  // The timeout of --start is 30 seconds.
  for (const deadline = Date.now() + 25_000; Date.now() < deadline; await sleep(100)) {
    if (code !== undefined) await fail("START_FAILED", `the app ended with code ${code}: ${tail(logs.stderr)}`);
    if (await healthy(state)) return state;
  }
  await halt(state);
  return fail("START_TIMEOUT", `the app did not answer at ${state.url}${path}: ${tail(logs.combined)}`);
}

async function halt(state) {
  alive(state, "SIGTERM");
  // The timeout of --shutdown is 15 seconds.
  for (const deadline = Date.now() + 10_000; alive(state) && Date.now() < deadline; ) await sleep(50);
  alive(state, "SIGKILL");
  rmSync(stateFile, { force: true });
}

function answer(fields, code = 0) {
  process.stdout.write(`${JSON.stringify(fields)}\n`, () => process.exit(code));
  return new Promise(() => {});
}

function fail(error, message) {
  return answer({ status: "error", error, message, logs }, 1);
}

const option = process.argv[2] ?? "--start";
const running = readState();
if (option === "--watch") {
  watch();
} else if (option === "--start") {
  if (running) await answer({ status: "already_running", ...facts(running), logs, message: "Server is already running" });
  await answer({ status: "ready", ...facts(await launch()), logs, message: "Server started" });
} else if (option === "--restart") {
  if (running) await halt(running);
  const before = running && { previousPid: running.pid, previousPort: running.port };
  await answer({ status: "restarted", ...facts(await launch()), ...before, logs, message: "Server restarted" });
} else if (option === "--status") {
  if (!running) await answer({ status: "stopped", healthy: false, logs, message: "Server is not running" });
  const ok = await healthy(running);
  const message = ok ? "Server is running" : "Server does not answer";
  await answer({ status: ok ? "running" : "unhealthy", ...facts(running), uptime: uptime(running), healthy: ok, logs, message });
} else if (option === "--shutdown") {
  const stoppedAt = new Date().toISOString();
  if (!running) await answer({ status: "stopped", stoppedAt, message: "Server was not running" });
  await halt(running);
  await answer({
    status: "stopped",
    previousPid: running.pid,
    previousPort: running.port,
    stoppedAt,
    uptime: uptime(running),
    message: "Server stopped",
  });
} else {
  await fail("WRONG_OPTION", `unknown option ${option}`);
}
