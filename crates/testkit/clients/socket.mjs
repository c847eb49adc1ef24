// A WebSocket with a token, which a tool is called over: its answer, and how the connection ended, as one JSON object.
// URL TOKEN
const [url, token] = process.argv.slice(2);
const socket = new WebSocket(url, { protocols: ["mcp"], headers: { authorization: `Bearer ${token}` } });
const say = (message) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
let answer = null;
socket.onopen = () =>
  say({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "socket", version: "1" } },
  });
socket.onmessage = ({ data }) => {
  const { id, result } = JSON.parse(data);
  if (id === 1) {
    say({ method: "notifications/initialized" });
    say({ id: 2, method: "tools/call", params: { name: "navigate", arguments: { url: "about:blank" } } });
  }
  if (id === 2) {
    answer = result;
    socket.close();
  }
};
socket.onclose = ({ code, reason }) => {
  console.log(JSON.stringify({ answer, code, reason }));
  process.exit(0);
};
