import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import * as oidc from 'openid-client';
import { checkSessions } from '../../src/sign-in/check-sessions.ts';
import { freePort } from '../support/identity/free-port.ts';
import { type OidcProvider, startOidcProvider } from '../support/identity/oidc-provider.ts';
import { type SignedIn, type SignInStage, settingsOf, startSignInStage } from '../support/identity/stage.ts';
import { createSurfer, type Surfer } from '../support/identity/surfer.ts';

// With a certified identity provider, over HTTP.

const PEOPLE = {
  ada: { name: 'Ada', email: 'ada@example.com', groups: ['leads'] },
  bob: { name: 'Bob', email: 'bob@example.com', groups: ['engineers'] },
};
let provider: OidcProvider;
let stage: SignInStage;
beforeAll(async () => {
  const port = await freePort();
  provider = await startOidcProvider(`http://127.0.0.1:${port}`);
  await provider.setPeople(PEOPLE);
  stage = await startSignInStage(
    [settingsOf('sso', provider, { scopes: 'openid profile email groups offline_access' })],
    { port },
  );
});
afterAll(async () => {
  await stage?.stop();
  await provider?.stop();
});

const atService = ({ pathname }: URL) => pathname.startsWith('/console');

/** A person signs in by the provider's page. */
async function signIn(person: string, surfer: Surfer = createSurfer()): Promise<SignedIn> {
  const { response, at } = await surfer.follow(stage.loginUrl('sso'), atService);
  if (atService(at)) return stage.seen(surfer, at);
  expect(await response.text()).toContain('The company');
  const sent = await surfer.go(at.href, { form: { login: person } });
  const done = await surfer.follow(new URL(sent.headers.get('Location') ?? '', at).href, atService);
  return stage.seen(surfer, done.at);
}
async function check(): Promise<void> {
  const { db, cipher, identityProviders: providers, log } = stage.service.dependencies;
  await db.system.query((all) =>
    all.updateTable('sessions').set({ check_at: sql<Date>`now()` }).where('provider', 'is not', null),
  );
  await checkSessions({ db, cipher, providers, log }, new AbortController().signal);
}

test('people sign in, with the roles of their groups', async () => {
  const ada = await signIn('ada');
  expect(ada.at).toBe('/console/prompts');
  expect((await ada.call('GET', '/session')).body).toMatchObject({ member: { name: 'Ada', role: 'admin' } });
  const bob = await signIn('bob');
  expect((await bob.call('GET', '/session')).body).toMatchObject({ member: { name: 'Bob', role: 'editor' } });
});

test('a person signed in at the provider is not asked again before signing out there', async () => {
  const surfer = createSurfer();
  const { call } = await signIn('ada', surfer);
  const again = await surfer.follow(`${stage.loginUrl('sso')}&silent=1`, atService);
  expect(stage.seen(surfer, again.at).error).toBeNull();
  const { body } = await call('DELETE', '/session');
  const { response, at } = await surfer.follow(body.end_session_url);
  const page = await response.text();
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const action = /action="([^"]+)"/.exec(page)?.[1] ?? '';
  const out = await surfer.go(new URL(action, at).href, { form: { xsrf, logout: 'yes' } });
  expect(out.headers.get('Location')).toBe(`${stage.service.origin}/console/sign-in`);
  const silent = await surfer.follow(`${stage.loginUrl('sso')}&silent=1`, atService);
  expect(stage.seen(surfer, silent.at).error).toBe('not_signed_in');
});

test('checks go on with rotating tokens; without the group or account, one is out', async () => {
  const [ada, bob] = [await signIn('ada'), await signIn('bob')];
  await check();
  await check();
  expect((await ada.call('GET', '/session')).status).toBe(200);
  await provider.setPeople({ ada: { ...PEOPLE.ada, groups: [] } });
  await check();
  await Promise.all([ada.untilOut(), bob.untilOut()]);
  await provider.setPeople(PEOPLE);
});

test('an agent gets an access token for /mcp, and acts as its approver', async () => {
  await signIn('ada');
  const config = await oidc.discovery(new URL(provider.issuer), 'agent', 'a secret of the client', undefined, {
    execute: [oidc.allowInsecureRequests],
  });
  const verifier = oidc.randomPKCECodeVerifier();
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: 'http://127.0.0.1:1/agent',
    scope: 'openid mcp',
    resource: `${stage.service.origin}/mcp`,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const surfer = createSurfer();
  const { at } = await surfer.follow(url.href);
  const sent = await surfer.go(at.href, { form: { login: 'ada' } });
  const back = await surfer.follow(sent.headers.get('Location') ?? '', ({ pathname }) => pathname === '/agent');
  const tokens = await oidc.authorizationCodeGrant(
    config,
    back.at,
    { pkceCodeVerifier: verifier, idTokenExpected: true },
    { resource: `${stage.service.origin}/mcp` },
  );
  const call = (token: string | undefined) =>
    stage.service.call('GET', '/api-keys', { key: null, headers: { Authorization: `Bearer ${token}` } });
  expect((await call(tokens.access_token)).status).toBe(200);
  expect((await call(tokens.id_token)).status).toBe(401);
});

test('a provider that lost its data ends the sessions that it gave, and lets people in again', async () => {
  const { untilOut } = await signIn('ada');
  await provider.stop();
  expect((await signIn('ada').catch(() => undefined))?.session).toBeUndefined();
  await check();
  await provider.start();
  await provider.setPeople(PEOPLE);
  await check();
  await untilOut();
  // Its keys differ, too.
  expect((await signIn('ada')).error).toBeNull();
});
