// Calls the server with the official TypeScript SDK over a transport, and prints the results as one JSON object. Arguments:
// stdio COMMAND ARGS… | http URL [KEY] | sse URL [KEY] | ws URL
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";

const [kind, target, ...rest] = process.argv.slice(2);
const headers = rest[0] ? { Authorization: `Bearer ${rest[0]}` } : {};
const transports = {
  stdio: () => new StdioClientTransport({ command: target, args: rest }),
  http: () => new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } }),
  sse: () => new SSEClientTransport(new URL(target), { requestInit: { headers } }),
  ws: () => new WebSocketClientTransport(new URL(target)),
};

const client = new Client({ name: "sdk", version: "1" }, { capabilities: {} });
await client.connect(transports[kind]());
const { tools } = await client.listTools();
const opened = await client.callTool({
  name: "navigate",
  arguments: { url: "data:text/html,<title>from the SDK</title><button>Go</button>" },
});
const ticks = [];
const waited = await client.callTool({ name: "browser_wait_for", arguments: { time: 2.5 } }, undefined, {
  onprogress: (progress) => ticks.push(progress.progress),
});
const aborted = new AbortController();
const cut = client.callTool({ name: "browser_wait_for", arguments: { time: 30 } }, undefined, {
  signal: aborted.signal,
});
setTimeout(() => aborted.abort("enough"), 100);
const abort = await cut.then(
  () => "answered",
  () => "aborted",
);
const after = await client.callTool({ name: "get_page_metadata", arguments: {} });
const unknown = await client.callTool({ name: "no_such_tool", arguments: {} }).then(
  () => "answered",
  (error) => error.code,
);
const prompt = await client.getPrompt({
  name: "scrape_website",
  arguments: { url: "http://a.test/", selectors: JSON.stringify({ title: "h1" }) },
});
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    tools: tools.length,
    title: opened.structuredContent?.title,
    waited: !waited.isError,
    ticks: ticks.length,
    abort,
    after: after.structuredContent?.title,
    unknown,
    prompt: prompt.messages.length,
  }),
);
await client.close();
process.exit(0);
