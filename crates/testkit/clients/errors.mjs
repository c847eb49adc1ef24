// Calls each tool with an invalid argument, except `e2e_start`, with an official TypeScript SDK over a transport, and prints as one JSON object what the caller
// gets of each tool: the structured content of the error, or what was thrown. Arguments: SDK, then those of client.mjs.
const [sdk, kind, target, ...rest] = process.argv.slice(2);
const load = async (...modules) => Object.assign({}, ...(await Promise.all(modules.map((module) => import(module)))));
const library = await {
  // Version 1, and version 2.
  sdk: () => load(...["index", "sse", "stdio", "streamableHttp", "websocket"].map((file) => `@modelcontextprotocol/sdk/client/${file}.js`)),
  client: () => load("@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"),
}[sdk]();
const transports = {
  stdio: () => new library.StdioClientTransport({ command: target, args: rest }),
  http: () => new library.StreamableHTTPClientTransport(new URL(target)),
  sse: () => new library.SSEClientTransport(new URL(target)),
  ws: () => new library.WebSocketClientTransport(new URL(target)),
};

const client = new library.Client({ name: "errors", version: "1" }, { capabilities: {} });
await client.connect(transports[kind]());
const { tools } = await client.listTools();
const errors = {};
for (const { name } of tools)
  errors[name] = await client.callTool({ name, arguments: name === "e2e_start" ? {} : { maxTokens: "many" } }).then(
    ({ isError, structuredContent }) => ({ isError, ...structuredContent }),
    (error) => ({ thrown: String(error) }),
  );
console.log(JSON.stringify(errors));
await client.close();
process.exit(0);
