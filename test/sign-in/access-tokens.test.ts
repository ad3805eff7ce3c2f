import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type JWTPayload, SignJWT } from 'jose';
import { Registry } from 'prom-client';
import { startApi } from '../../src/api/server.ts';
import { createAuthenticator } from '../../src/services/access/authenticate.ts';
import { createAccessTokens, wwwAuthenticate } from '../../src/sign-in/access-tokens.ts';
import { createIdentityProviders } from '../../src/sign-in/providers.ts';
import { type SignInStage, settingsOf, startSignInStage } from '../support/identity/stage.ts';
import { type StandIn, startStandIn } from '../support/identity/stand-in.ts';

let provider: StandIn;
let stage: SignInStage;
beforeAll(async () => {
  provider = await startStandIn();
  stage = await startSignInStage([settingsOf('sso', provider)]);
  provider.person = { sub: 'ada', name: 'Ada', groups: ['leads'] };
  await stage.signIn('sso');
});
afterAll(async () => {
  await stage?.stop();
  await provider?.stop();
});

const now = () => Math.floor(Date.now() / 1000);
type Change = { [Name in keyof JWTPayload]: JWTPayload[Name] | undefined };
const claims = (change: Change = {}): JWTPayload =>
  Object.fromEntries(
    Object.entries({
      iss: provider.issuer,
      sub: 'ada',
      aud: `${stage.service.origin}/mcp`,
      iat: now(),
      exp: now() + 300,
      client_id: 'an agent',
      ...change,
    }).filter(([, value]) => value !== undefined),
  );
const get = (token: string, path = '/prompts', headers: Record<string, string> = {}) =>
  stage.service.call('GET', path, { key: null, headers: { Authorization: `Bearer ${token}`, ...headers } });
const signed = (change: Change = {}, header: { typ?: string } = { typ: 'at+jwt' }) =>
  provider.sign(claims(change), header);

test.each(['/mcp', ''])('names the issuer of tokens for %p at the well-known address', async (suffix) => {
  const response = await fetch(`${stage.service.origin}/.well-known/oauth-protected-resource${suffix}`);
  expect(await response.json()).toMatchObject({
    resource: `${stage.service.origin}/mcp`,
    authorization_servers: [provider.issuer],
    bearer_methods_supported: ['header'],
  });
  expect(wwwAuthenticate(stage.service.origin, 'invalid_token')).toBe(
    `Bearer error="invalid_token", resource_metadata="${stage.service.origin}/.well-known/oauth-protected-resource/mcp"`,
  );
});

test('is the person’s own in the first workspace, and in a named one', async () => {
  const first = await get(await signed(), '/api-keys');
  expect(first.status).toBe(200);
  const named = await get(await signed(), '/api-keys', { 'X-Workspace': 'research' });
  expect(named.body.error.code).toBe('insufficient_scope');
  expect((await get(await signed(), '/prompts', { 'X-Workspace': 'research' })).status).toBe(200);
  expect((await get(await signed(), '/prompts', { 'X-Workspace': 'other' })).status).toBe(401);
});

test('is accepted with any type of providers, and the service as audience', async () => {
  for (const typ of ['at+jwt', 'application/at+jwt', 'JWT'])
    expect((await get(await signed({}, { typ }))).status).toBe(200);
  expect((await get(await signed({ aud: ['x', stage.service.origin] }))).status).toBe(200);
});

describe('an access token is refused', () => {
  const refused: [string, () => Promise<string>][] = [
    ['for another audience', () => signed({ aud: 'https://other.example/mcp' })],
    ['for the client, as an ID token is', () => signed({ aud: provider.clientId })],
    ['without an audience', () => signed({ aud: undefined })],
    ['that has expired', () => signed({ exp: now() - 120 })],
    ['that never expires', () => signed({ exp: undefined })],
    ['that is not valid yet', () => signed({ nbf: now() + 600 })],
    ['that was issued in the future', () => signed({ iat: now() + 600 })],
    ['of another issuer', () => signed({ iss: 'https://other.example' })],
    ['without a subject', () => signed({ sub: undefined })],
    ['of a person who has never signed in', () => signed({ sub: 'nobody' })],
    ['that is an ID token', () => signed({ nonce: 'of a login' }, { typ: 'JWT' })],
    ['that is a token for logging out', () => signed({}, { typ: 'logout+jwt' })],
    [
      'that is not signed',
      async () =>
        `${[{ alg: 'none' }, claims()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`,
    ],
    [
      'signed by HS256 with the public key',
      async () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
          .sign(Buffer.from(await provider.publicKeyPem())),
    ],
    ['with another signature', async () => `${(await signed()).slice(0, -8)}AAAAAAAA`],
  ];
  test.each(refused)('%s', async (_what, make) => {
    const answer = await get(await make());
    expect(answer.body.error).toMatchObject({ code: 'unauthorized' });
  });
});

test('works for an agent at /mcp, which shows others where to get one', async () => {
  const ask = (authorization: Record<string, string>) =>
    fetch(`${stage.service.origin}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
        ...authorization,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  const refused = await ask({});
  expect([refused.status, refused.headers.get('WWW-Authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${stage.service.origin}/.well-known/oauth-protected-resource/mcp"`,
  ]);
  const forged = await ask({ Authorization: `Bearer ${(await signed()).slice(0, -8)}AAAAAAAA` });
  expect(forged.headers.get('WWW-Authenticate')).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
  const listed = await ask({ Authorization: `Bearer ${await signed()}` });
  expect(listed.status).toBe(200);
  expect(await listed.text()).toContain('"search_prompts"');
});

test('it makes no keys, which could outlive it, and ends none', async () => {
  const headers = { Authorization: `Bearer ${await signed()}` };
  const change = (method: string, path: string, body?: object) =>
    stage.service.call(method, path, { key: null, headers, ...(body && { body }) });
  const wanted = { name: 'kept', scopes: ['read'] };
  for (const answer of [
    await change('POST', '/me/api-keys', wanted),
    await change('POST', '/api-keys', wanted),
    await change('DELETE', '/api-keys/current'),
  ])
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  expect(
    (await stage.service.call('GET', '/api-keys')).body.data.map(({ name }: { name: string }) => name),
  ).not.toContain('kept');
});

test('forged ones never call the provider, however many', async () => {
  expect((await get(await signed())).status).toBe(200);
  const before = provider.asked.length;
  const forged = `${(await signed()).slice(0, -8)}AAAAAAAA`;
  for (let count = 0; count < 20; count += 1) expect((await get(forged)).status).toBe(401);
  expect(provider.asked.slice(before)).toEqual([]);
  expect((await get(await signed())).status).toBe(200);
});

test('while the provider is away, a stream is known to have ended, or not', async () => {
  const { db, listener, log, identityProviders } = stage.service.dependencies;
  const tokens = createAccessTokens(db, identityProviders, stage.service.origin);
  const authenticator = createAuthenticator(db, listener, log, tokens);
  const good = { kind: 'access_token', token: await signed(), workspace: undefined } as const;
  const expired = { kind: 'access_token', token: await signed({ exp: now() - 1 }), workspace: undefined } as const;
  await provider.stop();
  const ended = await authenticator.findEnded(
    new Map([good, expired].map((credential) => [credential, ['read'] as const])),
  );
  await provider.start();
  expect([...ended.keys()]).toEqual([expired]);
});

test('of two streams with one token, only that in the workspace left by the person ends', async () => {
  provider.person = { sub: 'both', name: 'Both', groups: ['leads'] };
  await stage.signIn('sso');
  const { db, listener, log, identityProviders } = stage.service.dependencies;
  const tokens = createAccessTokens(db, identityProviders, stage.service.origin);
  const token = await signed({ sub: 'both' });
  const [left, kept] = ['research', 'default'].map(
    (workspace) => ({ kind: 'access_token', token, workspace }) as const,
  );
  await db.system.query({
    text: `update members set status = 'suspended' where name = 'Both' and workspace_id = (select id from workspaces where name = 'research')`,
  });
  const asked = new Map([left, kept].flatMap((credential) => (credential ? [[credential, ['read']] as const] : [])));
  const ended = await createAuthenticator(db, listener, log, tokens).findEnded(asked);
  expect([...ended.keys()]).toEqual([left]);
});

test('it ends with the membership', async () => {
  provider.person = { sub: 'eve', name: 'Eve', groups: ['engineers'] };
  await stage.signIn('sso');
  const token = await signed({ sub: 'eve' });
  expect((await get(token)).status).toBe(200);
  await stage.service.dependencies.db.system.query((all) =>
    all.updateTable('members').set({ status: 'suspended' }).where('name', '=', 'Eve'),
  );
  expect((await get(token)).status).toBe(401);
});

test('without an identity provider, there are no access tokens, and no metadata', async () => {
  const { dependencies } = stage.service;
  const signIn = { ...dependencies.settings.signIn, identityProviders: [], publicUrl: undefined };
  const settings = { ...dependencies.settings, port: 0, signIn };
  const server = await startApi(
    { ...dependencies, settings, identityProviders: createIdentityProviders(signIn), registry: new Registry() },
    { eager: false },
  );
  const origin = `http://127.0.0.1:${server.port}`;
  const answer = await fetch(`${origin}/v1/prompts`, { headers: { Authorization: `Bearer ${await signed()}` } });
  expect(answer.status).toBe(401);
  for (const path of ['/.well-known/oauth-protected-resource', '/auth/login?provider=sso', '/auth/callback/sso'])
    expect((await fetch(origin + path)).status).toBe(404);
  await server.close(0);
});
