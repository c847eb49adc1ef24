// Starts a server with `--port 0`, and carries over HTTP what a client says over stdio: COMMAND ARGS…
// The request `testkit/reconnect`: the client goes without ending its session, and comes back as a new one.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

// Longer than a server needs to see that a client has gone, and to close its browser.
const AWAY = 15_000;

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, [...args, "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
server.on("exit", (code) => process.exit(code ?? 1));
process.on("SIGTERM", () => server.kill());
let printed = "";
// What a user is asked to give to a client.
const { url, headers } = await new Promise((resolve) =>
  server.stderr.on("data", (data) => {
    printed += data;
    const config = printed.match(/^\{$[\s\S]*?^\}$/m);
    if (config) resolve(Object.values(JSON.parse(config[0]).mcpServers)[0]);
  }),
);

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
let transport;
let hello;
let helloAgain;

async function connect() {
  transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  transport.onmessage = (message) => {
    if (message.result?.protocolVersion) transport.setProtocolVersion(message.result.protocolVersion);
    if (!message.method && message.id === hello.id && helloAgain) helloAgain(message.result);
    else say(message);
  };
  await transport.start();
}

async function reconnect() {
  await transport.close();
  await sleep(AWAY);
  await connect();
  const answer = new Promise((resolve) => (helloAgain = resolve));
  await transport.send(hello);
  const result = await answer;
  await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return result;
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const { id, method } = message;
  const failed = (error) => id !== undefined && say({ jsonrpc: "2.0", id, error: { code: -32000, message: String(error) } });
  if (method === "initialize") {
    hello = message;
    await connect();
  }
  if (method === "testkit/reconnect") reconnect().then((result) => say({ jsonrpc: "2.0", id, result }), failed);
  else transport.send(message).catch(failed);
}
server.kill();
