// An authorization server for tests: oidc-provider on a free port. It prints its address as the first line on stdout, and exits when stdin
// ends. The paths /control/… make it do what a correct server does not do: sign invalid tokens, replace its key, and not respond.

import { createServer } from "node:http";
import { CompactSign, exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

const SCOPES = "browser:read browser:act browser:admin";

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

async function newKey(kid) {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, use: "sig", alg: "RS256" };
}

function provider(key) {
  const client = (id) => ({
    client_id: id,
    client_secret: "secret",
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  });
  const app = {
    client_id: "app",
    application_type: "native",
    token_endpoint_auth_method: "none",
    redirect_uris: ["http://127.0.0.1:9/callback"],
  };
  return new Provider(issuer, {
    clients: [client("ada"), client("bob"), app],
    jwks: { keys: [key] },
    scopes: SCOPES.split(" "),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, interaction) => `/person/${interaction.uid}` },
    features: {
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: SCOPES,
          audience: resource,
          accessTokenTTL: 300,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
}

// Logs in as the user Alice and grants all scopes.
async function consent(request, response) {
  const { prompt, params, session, grantId } = await current.interactionDetails(request, response);
  if (prompt.name === "login") {
    return current.interactionFinished(request, response, { login: { accountId: "alice" } });
  }
  const known = grantId ? await current.Grant.find(grantId) : undefined;
  const grant = known ?? new current.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(prompt.details.missingOIDCScope?.join(" ") ?? "");
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(" "));
  }
  const consent = { grantId: await grant.save() };
  return current.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

let generation = 1;
let key = await newKey("key-1");
const stranger = await newKey("key-1");
let current = provider(key);
let callback = current.callback();
let silent = false;
let keyRequests = 0;

const control = {
  // Signs a token with the key of the issuer, or with another key that has the same id.
  async sign({ header, claims, by }) {
    const secret = by === "stranger" ? stranger : key;
    const message = new TextEncoder().encode(JSON.stringify(claims));
    const jws = new CompactSign(message).setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "at+jwt", ...header });
    return { token: await jws.sign(secret) };
  },
  // Replaces the key.
  async rotate() {
    generation += 1;
    key = await newKey(`key-${generation}`);
    current = provider(key);
    callback = current.callback();
    return {};
  },
  async silence() {
    silent = true;
    return {};
  },
  async count() {
    return { keyRequests };
  },
};

server.on("request", async (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  const asked = pathname.match(/^\/control\/(\w+)$/);
  if (asked) {
    let body = "";
    for await (const chunk of request) {
      body += chunk;
    }
    const answer = await control[asked[1]](body ? JSON.parse(body) : {});
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify(answer));
  }
  if (pathname.startsWith("/person/")) {
    return consent(request, response);
  }
  if (silent) {
    return request.socket.destroy();
  }
  keyRequests += pathname === "/jwks" ? 1 : 0;
  return callback(request, response);
});

// The test only reads the first line, so the pipe can be closed.
process.stdout.on("error", () => {});
process.stdin.on("end", () => process.exit(0)).resume();
console.log(issuer);
