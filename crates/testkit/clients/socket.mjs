// Calls a tool over a WebSocket with an access token, and prints the answer and the close code of the connection as one JSON object.
// Arguments: URL TOKEN
const [url, token] = process.argv.slice(2);
const socket = new WebSocket(url, { protocols: ["mcp"], headers: { authorization: `Bearer ${token}` } });
const send = (message) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
let answer = null;
socket.onopen = () =>
  send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "socket", version: "1" } },
  });
socket.onmessage = ({ data }) => {
  const { id, result } = JSON.parse(data);
  if (id === 1) {
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "navigate", arguments: { url: "about:blank" } } });
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
