// Calls the server with the official TypeScript SDK and OAuth, and prints the results as one JSON object. The SDK discovers the issuer and
// registers a client; this script logs in as the user. With CLIENT, a client that is already registered, it also calls a tool that requires
// a further scope. A client that has just been registered is only registered for the first scopes.
// Arguments: URL [CLIENT]
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [serverUrl, clientId] = process.argv.slice(2);
const callback = "http://127.0.0.1:9/callback";
const cookies = new Map();
const asked = [];
const stored = clientId ? { client: { client_id: clientId } } : {};
let code;

// Follows redirects like a browser, until the issuer redirects to the callback URL. Returns the authorization code.
async function logIn(url) {
  for (let hops = 0; hops < 20; hops += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [name, value] = line.split(";")[0].split("=");
      cookies.set(name, value);
    }
    url = new URL(answer.headers.get("location"), url);
    if (url.href.startsWith(callback)) {
      if (!url.searchParams.has("code")) {
        throw new Error(url);
      }
      return url.searchParams.get("code");
    }
  }
  throw new Error(`too many redirects: ${url}`);
}

const authProvider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: "SDK",
    redirect_uris: [callback],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
    scope: "browser:read browser:act browser:admin",
  },
  clientInformation: () => stored.client,
  saveClientInformation: (client) => void (stored.client = client),
  tokens: () => stored.tokens,
  saveTokens: (tokens) => void (stored.tokens = tokens),
  codeVerifier: () => stored.verifier,
  saveCodeVerifier: (verifier) => void (stored.verifier = verifier),
  async redirectToAuthorization(url) {
    asked.push(url.searchParams.get("scope"));
    code = await logIn(url);
  },
};

let transport;

// Calls a function, and calls it again after the login if it requires authorization.
async function withLogin(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) {
      throw error;
    }
    await transport.finishAuth(code);
    return await work();
  }
}

const client = new Client({ name: "sdk", version: "1" }, { capabilities: {} });
await withLogin(async () => {
  transport = new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider });
  await client.connect(transport);
});
const created = await client.callTool({ name: "create_session", arguments: {} });
const { sessionId } = created.structuredContent;
const more = clientId && (await withLogin(() => client.callTool({ name: "get_cookies", arguments: { sessionId } })));
console.log(JSON.stringify({ asked, sessionId, cookies: more?.structuredContent?.cookies }));
await client.close();
process.exit(0);
