import { createServer } from 'node:http';
import process from 'node:process';
import Provider, { type Configuration, errors } from 'oidc-provider';

// A real identity provider as a process: `node oidc-provider-main.ts <port> <origin of the service>`. `PUT /people` sets its people, and
// signing in requires only a name.

const [port = '', service = ''] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
let people: Record<string, Record<string, unknown>> = {};

const client = {
  client_id: 'pms',
  client_secret: 'a secret of the client',
  redirect_uris: [`${service}/auth/callback/sso`],
  post_logout_redirect_uris: [`${service}/console/sign-in`],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code' as const],
  token_endpoint_auth_method: 'client_secret_post' as const,
};
const agent = {
  ...client,
  client_id: 'agent',
  redirect_uris: ['http://127.0.0.1:1/agent'],
  post_logout_redirect_uris: [],
};

const configuration: Configuration = {
  clients: [client, agent],
  claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
  scopes: ['openid', 'offline_access', 'groups'],
  cookies: { keys: ['of tests'] },
  findAccount: (_ctx, id) =>
    people[id] === undefined ? undefined : { accountId: id, claims: () => ({ ...people[id], sub: id }) },
  issueRefreshToken: () => Promise.resolve(true),
  rotateRefreshToken: true,
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo(_ctx, resource) {
        if (resource !== `${service}/mcp`) throw new errors.InvalidTarget();
        return { scope: 'mcp', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 300 };
      },
    },
  },
  // No consent is requested: the application belongs to the company.
  async loadExistingGrant(ctx) {
    const { client: asking, session } = ctx.oidc;
    if (asking === undefined || session?.accountId === undefined) return undefined;
    const grant = new ctx.oidc.provider.Grant({ clientId: asking.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid profile email groups offline_access');
    grant.addResourceScope(`${service}/mcp`, 'mcp');
    await grant.save();
    return grant;
  },
};
const provider = new Provider(issuer, configuration);
const oidc = provider.callback();

const page = (
  uid: string,
) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign in at the company</title>
<h1>The company</h1><form method="post" action="/interaction/${uid}"><label>Name <input name="login" autofocus></label>
<button>Continue</button></form></html>`;

const server = createServer(async (request, response) => {
  const path = request.url ?? '';
  const uid = /^\/interaction\/([\w-]+)/.exec(path)?.[1];
  if (path !== '/people' && uid === undefined) return oidc(request, response);
  let text = '';
  for await (const part of request) text += part;
  if (path === '/people') {
    people = JSON.parse(text);
    response.end('{}');
  } else if (request.method === 'POST') {
    const login = new URLSearchParams(text).get('login') ?? '';
    await provider.interactionFinished(request, response, { login: { accountId: login } });
  } else response.writeHead(200, { 'Content-Type': 'text/html' }).end(page(uid ?? ''));
  return undefined;
});
server.listen(Number(port), '127.0.0.1', () => process.send?.('listening'));
