// A real authorization server for tests: oidc-provider on a free port of this machine. Its address is the first line on stdout; it ends with
// stdin. What no server of good character does (tokens that are wrong in one thing, new keys, silence) is asked for at /control.

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

// The person who logs in is Alice, and agrees to everything.
async function agree(request, response) {
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
  // Signs whatever is asked for, as the issuer or as a stranger who calls its key the same.
  async sign({ header, claims, by }) {
    const secret = by === "stranger" ? stranger : key;
    const message = new TextEncoder().encode(JSON.stringify(claims));
    const jws = new CompactSign(message).setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "at+jwt", ...header });
    return { token: await jws.sign(secret) };
  },
  // The old key is gone, from now on.
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
    return agree(request, response);
  }
  if (silent) {
    return request.socket.destroy();
  }
  keyRequests += pathname === "/jwks" ? 1 : 0;
  return callback(request, response);
});

// Nobody reads on.
process.stdout.on("error", () => {});
process.stdin.on("end", () => process.exit(0)).resume();
console.log(issuer);
