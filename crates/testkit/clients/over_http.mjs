// Starts a server with `--port 0` and forwards the messages of a stdio client to it over HTTP. Arguments: COMMAND ARGS…
// The request `testkit/reconnect` disconnects without ending the session, and connects as a new client.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

// Longer than the server needs to detect that a client has disconnected and to close its browser, in ms.
const RECONNECT_DELAY = 15_000;

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, [...args, "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
server.on("exit", (code) => process.exit(code ?? 1));
process.on("SIGTERM", () => server.kill());
let printed = "";
// The client configuration that the server prints.
const { url, headers } = await new Promise((resolve) =>
  server.stderr.on("data", (data) => {
    printed += data;
    const config = printed.match(/^\{$[\s\S]*?^\}$/m);
    if (config) resolve(Object.values(JSON.parse(config[0]).mcpServers)[0]);
  }),
);

const reply = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
let transport;
let initialize;
let onInitialized;

async function connect() {
  transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  transport.onmessage = (message) => {
    if (message.result?.protocolVersion) transport.setProtocolVersion(message.result.protocolVersion);
    if (!message.method && message.id === initialize.id && onInitialized) onInitialized(message.result);
    else reply(message);
  };
  await transport.start();
}

async function reconnect() {
  await transport.close();
  await sleep(RECONNECT_DELAY);
  await connect();
  const answer = new Promise((resolve) => (onInitialized = resolve));
  await transport.send(initialize);
  const result = await answer;
  await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return result;
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const { id, method } = message;
  const failed = (error) => id !== undefined && reply({ jsonrpc: "2.0", id, error: { code: -32000, message: String(error) } });
  if (method === "initialize") {
    initialize = message;
    await connect();
  }
  if (method === "testkit/reconnect") reconnect().then((result) => reply({ jsonrpc: "2.0", id, result }), failed);
  else transport.send(message).catch(failed);
}
server.kill();
