// A real authorization server for tests: oidc-provider on a free port of this machine. Its address is the first line on stdout; it ends with
// stdin. What no server of good character does (tokens that are wrong in one thing, new keys, silence) is asked for at /control.

import { createServer } from 'node:http';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

const SCOPES = 'browser:read browser:act browser:admin';

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

async function newKey(kid) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' };
}

function provider(key) {
  const client = (id) => ({
    client_id: id,
    client_secret: 'secret',
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  });
  return new Provider(issuer, {
    clients: [client('ada'), client('bob')],
    jwks: { keys: [key] },
    scopes: SCOPES.split(' '),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: SCOPES,
          audience: resource,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
}

let generation = 1;
let key = await newKey('key-1');
const stranger = await newKey('key-1');
let callback = provider(key).callback();
let silent = false;
let keyRequests = 0;

const control = {
  // Signs whatever is asked for, as the issuer or as a stranger who calls its key the same.
  async sign({ header, claims, by }) {
    const secret = by === 'stranger' ? stranger : key;
    const message = new TextEncoder().encode(JSON.stringify(claims));
    const jws = new CompactSign(message).setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: 'at+jwt', ...header });
    return { token: await jws.sign(secret) };
  },
  // The old key is gone, from now on.
  async rotate() {
    generation += 1;
    key = await newKey(`key-${generation}`);
    callback = provider(key).callback();
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

server.on('request', async (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  const asked = pathname.match(/^\/control\/(\w+)$/);
  if (asked) {
    let body = '';
    for await (const chunk of request) {
      body += chunk;
    }
    const answer = await control[asked[1]](body ? JSON.parse(body) : {});
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(answer));
  }
  if (silent) {
    return request.socket.destroy();
  }
  keyRequests += pathname === '/jwks' ? 1 : 0;
  return callback(request, response);
});

process.stdin.on('end', () => process.exit(0)).resume();
console.log(issuer);
