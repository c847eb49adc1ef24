// Installs the packages of target/npm into an empty folder, and starts the server from there like a client.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { hostTarget, programName } from "../packaging/release.mjs";

const npm = dirname(fileURLToPath(import.meta.url));
const { name } = JSON.parse(readFileSync(join(npm, "playhouse/package.json"), "utf8"));
const packed = join(npm, "../target/npm");
const packages = readdirSync(packed)
  .filter((file) => file.endsWith(".tgz"))
  .map((file) => join(packed, file));
const folder = mkdtempSync(join(tmpdir(), "playhouse-npm-"));
// All processes of this test have the variable NPM_TEST_FOLDER in their environment.
const env = { ...process.env, PLAYHOUSE_TEST: undefined, NPM_TEST_FOLDER: folder };
const options = { cwd: folder, env, encoding: "utf8" };

/** Returns the ids of the processes of this test. It is empty on systems without /proc. */
const processes = () => {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`NPM_TEST_FOLDER=${folder}`);
    } catch {
      return false;
    }
  });
};

const expectNoProcesses = async () => {
  for (let attempt = 0; attempt < 200 && processes().length; attempt += 1) await new Promise((resolve) => setTimeout(resolve, 100));
  const left = processes().map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
  assert.deepEqual(left, []);
};

/** Starts the server of the configuration file, calls a tool, and returns the process. */
const connect = async () => {
  const { command, args } = JSON.parse(readFileSync(join(folder, ".mcp.json"), "utf8")).mcpServers.playhouse;
  const server = spawn(command, args, { cwd: folder, env, stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  let last = 0;
  const request = async (method, params) => {
    const id = (last += 1);
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      assert(!done, "the server ended");
      const message = JSON.parse(value);
      if (message.id === id) return message.result ?? assert.fail(value);
    }
  };
  await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } });
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const page = { url: "data:text/html,<title>Here</title>" };
  const { content } = await request("tools/call", { name: "browser_navigate", arguments: page });
  assert.match(content[0].text, /Page Title: Here/);
  return server;
};

const times = (program, args) => {
  const all = Array.from({ length: 11 }, () => {
    const start = process.hrtime.bigint();
    execFileSync(program, args, options);
    return Number(process.hrtime.bigint() - start) / 1e6;
  });
  return all.sort((a, b) => a - b)[5];
};

try {
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const server = { command: "npx", args: [name, "--headless", "--isolated"] };
  writeFileSync(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: { playhouse: server } }));
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", ...packages], { ...options, stdio: "inherit" });

  const modules = join(folder, "node_modules");
  const target = hostTarget();
  const program = join(modules, `${name}-${target.npm}`, "bin", programName(target));
  const version = execFileSync(program, ["--version"], options);
  assert.equal(execFileSync("npx", [name, "--version"], options), version);
  console.log(`npx ${name} --version:`, version.trim());

  const wrong = spawn("npx", [name, "--heedless"], { cwd: folder, env, stdio: "ignore" });
  assert.deepEqual(await once(wrong, "exit"), [1, null]);
  console.log("exit codes pass through");

  const closed = await connect();
  closed.stdin.end();
  assert.deepEqual(await once(closed, "exit"), [0, null]);
  await expectNoProcesses();
  console.log("a session over npx: ends with its client, nothing is left");

  const terminated = await connect();
  terminated.kill("SIGTERM");
  await once(terminated, "exit");
  await expectNoProcesses();
  console.log("SIGTERM: nothing is left");

  const killed = await connect();
  killed.kill("SIGKILL");
  killed.stdin.destroy();
  await expectNoProcesses();
  console.log("SIGKILL: nothing is left");

  const launcher = join(modules, name, "bin/playhouse.js");
  const [alone, node] = [times(program, ["--version"]), times(process.execPath, ["--eval", "0"])];
  const launched = times(process.execPath, [launcher, "--version"]);
  const beyond = (launched - alone - node).toFixed(0);
  console.log(`the launcher adds the start of Node (${node.toFixed(0)} ms) and ${beyond} ms`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
