// The official TypeScript SDK, told nothing but where the server is: it finds the issuer, registers there, has a person log in (who is this
// script), and calls a tool. As a client that the issuer knows already it also gets itself more when a call needs more; one that has just
// registered did so for the first scopes only. What came of it, as one JSON object.
// URL [CLIENT]
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [where, known] = process.argv.slice(2);
const callback = "http://127.0.0.1:9/callback";
const cookies = new Map();
const asked = [];
const kept = known ? { client: { client_id: known } } : {};
let code;

// Goes where a browser would, until the issuer sends it back to us.
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
  throw new Error(`no way back from ${url}`);
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
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  async redirectToAuthorization(url) {
    asked.push(url.searchParams.get("scope"));
    code = await logIn(url);
  },
};

let transport;

// Does it, and again once a person has logged in.
async function patiently(work) {
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
await patiently(async () => {
  transport = new StreamableHTTPClientTransport(new URL(where), { authProvider });
  await client.connect(transport);
});
const created = await client.callTool({ name: "create_session", arguments: {} });
const { sessionId } = created.structuredContent;
const more = known && (await patiently(() => client.callTool({ name: "get_cookies", arguments: { sessionId } })));
console.log(JSON.stringify({ asked, sessionId, cookies: more?.structuredContent?.cookies }));
await client.close();
process.exit(0);
