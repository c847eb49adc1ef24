// Measures `npx playhouse-mcp@latest` and `npx @playwright/mcp@latest`, from an empty cache and again: the time until the list of tools, and the
// bytes that are downloaded. Both are installed from a registry on this machine, so that the network makes no difference. Requires the
// packages of build.mjs. Arguments: [ROUNDS]
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../packaging/release.mjs";

const rounds = Number(process.argv[2] ?? 5);
const folder = mkdtempSync(join(tmpdir(), "playhouse-npx-"));

/** Packs a package and what it depends on, from the public registry, and returns the paths. */
const download = (name) => {
  const [project, packed] = [join(folder, "project"), join(folder, "packed")];
  for (const path of [project, packed]) mkdirSync(path);
  writeFileSync(join(project, "package.json"), '{ "private": true }');
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", name], { cwd: project });
  const { packages } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
  for (const [path, { version }] of Object.entries(packages)) {
    if (path) execFileSync("npm", ["pack", "--silent", `${path.split("node_modules/").pop()}@${version}`], { cwd: packed });
  }
  return readdirSync(packed).map((file) => join(packed, file));
};

/** A registry of npm with these tarballs: https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md */
const serve = async (tarballs) => {
  const packages = new Map();
  const files = new Map();
  let bytes = 0;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.slice(1));
    const body = files.get(path) ?? packages.get(path);
    bytes += body?.length ?? 0;
    response.writeHead(body ? 200 : 404).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
  for (const tarball of tarballs) {
    const data = readFileSync(tarball);
    const manifest = JSON.parse(execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" }));
    const file = `files/${manifest.name}.tgz`;
    const integrity = `sha512-${createHash("sha512").update(data).digest("base64")}`;
    manifest.dist = { tarball: address + file, integrity };
    files.set(file, data);
    const versions = { [manifest.version]: manifest };
    packages.set(manifest.name, Buffer.from(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions })));
  }
  return { address, close: () => server.close(), takeBytes: () => bytes - (bytes = 0) };
};

/** Starts the server of a package with npx and returns the milliseconds until its list of tools. */
const start = async (name, cache, registry) => {
  const env = { ...process.env, npm_config_cache: cache, npm_config_registry: registry.address, npm_config_update_notifier: "false" };
  const before = performance.now();
  const server = spawn("npx", ["-y", `${name}@latest`, "--headless", "--isolated"], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "measure", version: "1" } };
  send({ id: 1, method: "initialize", params });
  const answer = async (id) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${name} ended`);
      if (JSON.parse(value).id === id) return;
    }
  };
  await answer(1);
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list" });
  await answer(2);
  const time = performance.now() - before;
  const ended = new Promise((resolve) => server.on("exit", resolve));
  server.stdin.end();
  await ended;
  return time;
};

const middle = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

try {
  const own = readdirSync(join(root, "target/npm"))
    .filter((name) => name.endsWith(".tgz"))
    .map((name) => join(root, "target/npm", name));
  const registry = await serve([...own, ...download("@playwright/mcp@latest")]);
  console.log("| | downloaded | on disk | empty cache | cached |\n|---|---:|---:|---:|---:|");
  for (const name of ["playhouse-mcp", "@playwright/mcp"]) {
    const [empty, cached] = [[], []];
    let [downloaded, disk] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      const cache = join(folder, `cache-${name.replace("/", "-")}-${round}`);
      registry.takeBytes();
      empty.push(await start(name, cache, registry));
      downloaded = registry.takeBytes();
      cached.push(await start(name, cache, registry));
      disk = Number(execFileSync("du", ["-sb", join(cache, "_npx")], { encoding: "utf8" }).split("\t")[0]);
    }
    const [mb, s] = [(bytes) => `${(bytes / 1e6).toFixed(1)} MB`, (time) => `${(time / 1000).toFixed(2)} s`];
    console.log(`| \`npx ${name}@latest\` | ${mb(downloaded)} | ${mb(disk)} | ${s(middle(empty))} | ${s(middle(cached))} |`);
  }
  registry.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
