import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { type SignInStage, settingsOf, startSignInStage } from '../support/identity/stage.ts';
import { type StandIn, startStandIn, type TokenParts } from '../support/identity/stand-in.ts';
import { createSurfer, type Surfer } from '../support/identity/surfer.ts';

// docs/sign-in.md describes these attacks, test/docs/attacks.json lists their tests, and test/docs/sign-in.test.ts compares the two.

let provider: StandIn;
let partners: StandIn;
let stage: SignInStage;
beforeAll(async () => {
  [provider, partners] = [await startStandIn(), await startStandIn({ clientId: 'other' })];
  stage = await startSignInStage([settingsOf('sso', provider), settingsOf('partners', partners)], {
    environment: { TRUST_PROXY: 'true' },
  });
});
afterEach(() => {
  provider.reset();
  partners.reset();
});
afterAll(async () => {
  await stage?.stop();
  await Promise.all([provider?.stop(), partners?.stop()]);
});

const FORGED = { error: 'invalid_response', session: undefined };
const EXPIRED = { error: 'login_expired', session: undefined };
const DOWN = { error: 'provider_down', session: undefined };
const now = () => Math.floor(Date.now() / 1000);

/** Signs in with claims of the ID token changed. */
function withClaims(change: Record<string, unknown>) {
  provider.idToken = ({ header, claims }) => ({ header, claims: { ...claims, ...change } });
  return stage.signIn('sso');
}

const unsigned = ({ header, claims }: TokenParts) =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');

/** A browser that the provider has sent back, and has not followed yet: the address that it was sent to. */
async function untilCallback(id = 'sso', surfer = createSurfer()): Promise<{ surfer: Surfer; callback: URL }> {
  const { at } = await surfer.follow(stage.loginUrl(id), ({ pathname }) => pathname.startsWith('/auth/callback'));
  return { surfer, callback: at };
}

async function finish(surfer: Surfer, callback: URL, headers: Record<string, string> = {}) {
  const response = await surfer.go(callback.href, { headers });
  return { response, ...stage.seen(surfer, new URL(response.headers.get('Location') ?? '/none', callback)) };
}

const tokenRequests = () => provider.asked.filter((path) => path === '/token').length;

describe('an ID token is refused', () => {
  test('for another audience', async () => expect(await withClaims({ aud: 'another client' })).toMatchObject(FORGED));
  test('for this client and others, issued to another one', async () =>
    expect(await withClaims({ aud: ['pms', 'another'], azp: 'another' })).toMatchObject(FORGED));
  test('with another nonce', async () => expect(await withClaims({ nonce: 'of another login' })).toMatchObject(FORGED));
  test('without a nonce', async () => expect(await withClaims({ nonce: undefined })).toMatchObject(FORGED));
  test('of another issuer', async () => expect(await withClaims({ iss: partners.issuer })).toMatchObject(FORGED));
  test('without a subject', async () => expect(await withClaims({ sub: undefined })).toMatchObject(FORGED));
  test('that has expired', async () => expect(await withClaims({ exp: now() - 120 })).toMatchObject(FORGED));
  test('that was issued in the future', async () =>
    expect(await withClaims({ iat: now() + 600 })).toMatchObject(FORGED));
  test('that is not valid yet', async () => expect(await withClaims({ nbf: now() + 600 })).toMatchObject(FORGED));
  test('if the response has none', async () => {
    provider.tokens = (response) => ({ ...response, id_token: undefined });
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('that is not signed', async () => {
    provider.signed = (_, parts) => `${unsigned(parts)}.`;
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('with the algorithm "none"', async () => {
    provider.signed = (_, { claims }) => `${unsigned({ header: { alg: 'none' }, claims })}.`;
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('with the algorithm "none" allowed by the metadata', async () => {
    provider.metadata = (metadata) => ({ ...metadata, id_token_signing_alg_values_supported: ['none', 'HS256'] });
    provider.signed = (_, { claims }) => `${unsigned({ header: { alg: 'none' }, claims })}.`;
    await stage.signIn('sso');
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('signed by HS256 with the public key as the secret', async () => {
    const pem = await provider.publicKeyPem();
    provider.signed = (_, { claims }) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(Buffer.from(pem));
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('signed by HS256 with the client’s secret', async () => {
    provider.signed = (_, { claims }) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('a secret of the client'));
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('signed with a foreign key', async () => {
    provider.signed = (_, { claims }) => partners.sign(claims);
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('with claims changed after signing', async () => {
    provider.signed = (token, { header, claims }) =>
      `${unsigned({ header, claims: { ...claims, sub: 'root' } })}.${token.split('.')[2]}`;
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('of another person than userinfo', async () => {
    provider.userInfo = (claims) => ({ ...claims, sub: 'bob' });
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
  });
  test('and not within a minute of clock skew', async () => {
    expect(await withClaims({ iat: now() + 40, nbf: now() + 40 })).toMatchObject({ error: null });
    expect(await withClaims({ exp: now() - 40, iat: now() - 100 })).toMatchObject({ error: null });
  });
});

describe('a callback is refused', () => {
  test('with a code that was used', async () => {
    const used = await untilCallback();
    expect(await finish(used.surfer, used.callback)).toMatchObject({ error: null });
    const { surfer, callback } = await untilCallback();
    callback.searchParams.set('code', used.callback.searchParams.get('code') ?? '');
    expect(await finish(surfer, callback)).toMatchObject(EXPIRED);
  });
  test('when it is opened again', async () => {
    const { surfer, callback } = await untilCallback();
    const login = new Map(surfer.cookies(stage.service.origin));
    await finish(surfer, callback);
    const asked = tokenRequests();
    const again = await finish(surfer, callback);
    expect(again.error).toBe('login_expired');
    expect(tokenRequests()).toBe(asked);
    // The provider rejects a stolen cookie: a code works once.
    const kept = createSurfer();
    for (const [name, value] of login) kept.cookies(stage.service.origin).set(name, value);
    expect(await finish(kept, callback)).toMatchObject(EXPIRED);
  });
  test('in a browser that never began the login', async () => {
    const { callback } = await untilCallback();
    expect(await finish(createSurfer(), callback)).toMatchObject(EXPIRED);
    expect(tokenRequests()).toBe(0);
  });
  test('with the state of another login of the same browser', async () => {
    const surfer = createSurfer();
    const one = await untilCallback('sso', surfer);
    const other = await untilCallback('sso', surfer);
    one.callback.searchParams.set('state', other.callback.searchParams.get('state') ?? '');
    expect(await finish(surfer, one.callback)).toMatchObject(EXPIRED);
  });
  test('with the code of another login, though the provider ignores PKCE', async () => {
    const stolen = await untilCallback();
    const own = await untilCallback();
    const [theirs, ours] = [stolen, own].map(({ callback }) =>
      provider.codes.get(callback.searchParams.get('code') ?? ''),
    );
    theirs?.request.set('code_challenge', ours?.request.get('code_challenge') ?? '');
    own.callback.searchParams.set('code', stolen.callback.searchParams.get('code') ?? '');
    expect(await finish(own.surfer, own.callback)).toMatchObject(FORGED);
  });
  test('with the code of another client', async () => {
    const { surfer, callback } = await untilCallback();
    provider.codes.get(callback.searchParams.get('code') ?? '')?.request.set('client_id', 'another');
    expect(await finish(surfer, callback)).toMatchObject(EXPIRED);
  });
  test('without the verifier that PKCE asks for', async () => {
    const { surfer, callback } = await untilCallback();
    provider.codes.get(callback.searchParams.get('code') ?? '')?.request.set('code_challenge', 'of somebody else');
    expect(await finish(surfer, callback)).toMatchObject(EXPIRED);
  });
  test('without a state, or with an invalid one', async () => {
    for (const state of [undefined, '', 'x', '../../etc', 'é'.repeat(38)]) {
      const { surfer, callback } = await untilCallback();
      if (state === undefined) callback.searchParams.delete('state');
      else callback.searchParams.set('state', state);
      expect(await finish(surfer, callback)).toMatchObject(EXPIRED);
    }
  });
  test('with a parameter twice', async () => {
    for (const name of ['code', 'state', 'iss']) {
      const { surfer, callback } = await untilCallback();
      callback.searchParams.append(name, callback.searchParams.get(name) ?? '');
      expect((await finish(surfer, callback)).session).toBeUndefined();
    }
  });
  test('at the address of another provider', async () => {
    const { surfer, callback } = await untilCallback();
    callback.pathname = '/auth/callback/partners';
    expect(await finish(surfer, callback)).toMatchObject(FORGED);
    expect(partners.asked).not.toContain('/token');
  });
  test('with the code of a provider that inserted itself', async () => {
    provider.redirect = (parameters) =>
      new URLSearchParams({ ...Object.fromEntries(parameters), iss: partners.issuer });
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
    expect(tokenRequests()).toBe(0);
  });
  test('without the issuer, if the provider promises one', async () => {
    provider.redirect = (parameters) => {
      parameters.delete('iss');
      return parameters;
    };
    expect(await stage.signIn('sso')).toMatchObject(FORGED);
    expect(tokenRequests()).toBe(0);
  });
  test('after ten minutes', async () => {
    const { surfer, callback } = await untilCallback();
    const { cipher } = stage.service.dependencies;
    const cookies = surfer.cookies(stage.service.origin);
    const [[name, value] = ['', '']] = [...cookies];
    const login = JSON.parse(cipher.decrypt(Buffer.from(value, 'base64url')).toString());
    const old = { ...login, begunAt: login.begunAt - 10 * 60_000 };
    cookies.set(name, cipher.encrypt(Buffer.from(JSON.stringify(old))).toString('base64url'));
    expect(await finish(surfer, callback)).toMatchObject(EXPIRED);
    expect(surfer.received.join()).toMatch(/pms_login_[\w-]{16}=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax/);
  });
  test('with a changed, cut or foreign cookie', async () => {
    const { cipher } = stage.service.dependencies;
    const forged = JSON.stringify({ purpose: 'something else', state: 'x' });
    for (const change of [
      (value: string) => `${value.slice(0, -2)}${value.endsWith('AA') ? 'BB' : 'AA'}`,
      (value: string) => value.slice(0, 40),
      () => Buffer.from(forged).toString('base64url'),
      () => cipher.encrypt(Buffer.from(forged)).toString('base64url'),
      () => 'x'.repeat(3_000),
    ]) {
      const { surfer, callback } = await untilCallback();
      const cookies = surfer.cookies(stage.service.origin);
      for (const [name, value] of cookies) cookies.set(name, change(value));
      expect(await finish(surfer, callback)).toMatchObject(EXPIRED);
    }
  });
  test('with a cookie that lacks the prefix, under https', async () => {
    const https = { 'X-Forwarded-Proto': 'https' };
    const surfer = createSurfer();
    const begun = await surfer.go(stage.loginUrl('sso'), { headers: https });
    expect(begun.headers.get('Set-Cookie')).toMatch(/^__Host-pms_login_[\w-]{16}=.+; SameSite=Lax; Secure$/);
    const back = await surfer.go(begun.headers.get('Location') ?? '');
    const callback = new URL(back.headers.get('Location') ?? '');
    const cookies = surfer.cookies(stage.service.origin);
    const [[name, value] = ['', '']] = [...cookies];
    cookies.delete(name);
    cookies.set(name.replace('__Host-', ''), value);
    expect(await finish(surfer, callback, https)).toMatchObject(EXPIRED);
    cookies.set(name, value);
    const { response, error } = await finish(surfer, callback, https);
    expect(error).toBeNull();
    expect(response.headers.getSetCookie().at(-1)).toMatch(/^__Host-pms_session=.+; SameSite=Strict; Secure$/);
  });
  test('by another method', async () => {
    const { surfer, callback } = await untilCallback();
    const response = await surfer.go(callback.href, { form: { code: 'x' } });
    expect(response.status).toBe(400);
  });
  test('with errors that contain markup, which is not shown', async () => {
    const markup = '<script>alert(1)</script>"><img src=x onerror=alert(1)>';
    provider.redirect = (_, request) =>
      new URLSearchParams({
        error: markup,
        error_description: markup,
        error_uri: 'javascript:alert(1)',
        state: request.get('state') ?? '',
        iss: provider.issuer,
      });
    const { surfer, callback } = await untilCallback();
    const { response, at } = await finish(surfer, callback);
    expect(at).toBe('/console/sign-in?error=provider_refused&provider=sso&to=%2Fprompts');
    expect(await response.text()).not.toMatch(/script|onerror/);
  });
  test('with parameters of any length, and the next one works', async () => {
    const { surfer, callback } = await untilCallback();
    for (const name of ['code', 'state', 'error', 'iss'])
      for (const length of [5_000, 12_000, 100_000]) {
        const { callback: next, surfer: other } = await untilCallback();
        next.searchParams.set(name, 'x'.repeat(length));
        expect([302, 400, 431]).toContain((await other.go(next.href)).status);
        expect(stage.seen(other, next).session).toBeUndefined();
      }
    expect(await finish(surfer, callback)).toMatchObject({ error: null });
  });
});

describe('a sign-in target', () => {
  test.each([
    '//evil.example',
    'https://evil.example/console/',
    'https:evil.example',
    'javascript:alert(1)//console',
    '/\\evil.example',
    '\\\\evil.example',
    '/console/../../evil',
    '/console/..//evil.example',
    '/console/%2e%2e//evil.example',
    '/console\\..\\..\\evil',
    '/console\t/../..//evil.example',
    '/consolevil',
    '/console.evil.example',
    '/console@evil.example',
    ' //evil.example',
    '/v1/session',
    '',
  ])('is not %p', async (returnTo) => {
    const response = await createSurfer().go(stage.loginUrl('sso', returnTo));
    expect({ status: response.status, location: response.headers.get('Location') }).toEqual({
      status: 400,
      location: null,
    });
  });
  test('stays local, whatever the cookie says', async () => {
    // The cookie is encrypted: only a page of the service can have put it there.
    const { at } = await stage.signIn('sso', { returnTo: '/console/prompts?next=//evil.example' });
    expect(at).toBe('/console/prompts?next=//evil.example');
  });
});

describe('a person', () => {
  test('is not another with the same e-mail address', async () => {
    const ada = await stage.signIn('sso');
    provider.person = { ...provider.person, sub: 'mallory', name: 'Mallory', email_verified: true };
    const mallory = await stage.signIn('sso');
    const [one, other] = [await ada.call('GET', '/session'), await mallory.call('GET', '/session')];
    expect(one.body.member.id).not.toBe(other.body.member.id);
    expect(one.body.drafts_key).not.toBe(other.body.drafts_key);
    expect(one.body.member.name).toBe('Ada');
  });
  test('is not another with the same subject at another issuer', async () => {
    const ada = await stage.signIn('sso');
    const other = await stage.signIn('partners');
    expect((await ada.call('GET', '/session')).body.member.id).not.toBe(
      (await other.call('GET', '/session')).body.member.id,
    );
  });
  test('deactivated by provisioning is refused, and is out', async () => {
    provider.person = { ...provider.person, sub: 'leaver' };
    const before = await stage.signIn('sso');
    await stage.service.dependencies.db.system.query((all) =>
      all.updateTable('users').set({ is_active: false }).where('subject', '=', 'leaver'),
    );
    expect(await stage.signIn('sso')).toMatchObject({ error: 'inactive', session: undefined });
    await before.untilOut();
  });
  test('suspended by an admin is refused, even if the provider gives a role', async () => {
    provider.person = { ...provider.person, sub: 'suspended' };
    await stage.signIn('sso');
    await stage.service.dependencies.db.system.query((all) =>
      all
        .updateTable('members')
        .set({ status: 'suspended' })
        .where('user_id', 'in', (eb) => eb.selectFrom('users').select('id').where('subject', '=', 'suspended')),
    );
    expect(await stage.signIn('sso')).toMatchObject({ error: 'no_role', session: undefined });
  });
  test('is not made an admin by texts that only resemble a role', async () => {
    provider.person = { sub: 'sly', groups: [['leads'], { leads: true }, 'Leads', 'leads ', 'default:admin'] };
    expect(await stage.signIn('sso')).toMatchObject({ error: 'no_role' });
  });
});

describe('a session', () => {
  test('is a new one, whatever the browser sends', async () => {
    const surfer = createSurfer();
    const planted = 'A'.repeat(43);
    surfer.cookies(stage.service.origin).set('pms_session', planted);
    const { session } = await stage.signIn('sso', { surfer });
    expect(session).not.toBe(planted);
    const answer = await stage.service.call('GET', '/session', {
      key: null,
      headers: { Cookie: `pms_session=${planted}` },
    });
    expect(answer.status).toBe(401);
  });
  test('is not switched or ended by a page of another origin', async () => {
    const { session, call } = await stage.signIn('sso');
    for (const [method, path] of [
      ['POST', '/session/workspace'],
      ['DELETE', '/session'],
    ] as const) {
      const answer = await stage.service.call(method, path, {
        key: null,
        headers: { Cookie: `pms_session=${session}`, 'X-Console': '1', 'Sec-Fetch-Site': 'cross-site' },
        ...(method === 'POST' && { body: { workspace: 'research' } }),
      });
      expect(answer.status).toBe(401);
    }
    expect((await call('GET', '/session')).status).toBe(200);
  });
  test('keeps provider tokens encrypted', async () => {
    await stage.signIn('sso');
    const rows = await stage.service.dependencies.db.system.query((all) =>
      all.selectFrom('sessions').select('provider_tokens').where('provider', '=', 'sso'),
    );
    const refresh = [...provider.refreshTokens.keys()];
    for (const { provider_tokens: stored } of rows)
      for (const token of refresh) expect(stored?.toString('latin1')).not.toContain(token);
  });
});

describe('a provider', () => {
  /** Signs in while one path responds differently, with its current addresses. */
  async function answering(path: string, answer: Parameters<StandIn['on']['set']>[1]) {
    provider.on.set(path, answer);
    return stage.signIn('sso');
  }

  test.each(['/token', '/userinfo'])('that fails at %s says so, and the next sign-in works', async (path) => {
    const failing = await answering(path, (_, response) => response.writeHead(503).end('<h1>down</h1>'));
    expect(failing).toMatchObject(DOWN);
    provider.on.clear();
    expect(await stage.signIn('sso')).toMatchObject({ error: null });
  });
  test('that is unreachable is reported, while keys work', async () => {
    await provider.stop();
    const { surfer, callback } = await untilCallbackOf(provider.issuer);
    expect(await finish(surfer, callback)).toMatchObject(DOWN);
    expect((await stage.service.call('GET', '/prompts')).status).toBe(200);
    await provider.start();
    expect(await stage.signIn('sso')).toMatchObject({ error: null });
  });
  test('that hangs is given up, and does not delay others', async () => {
    const hanging = answering('/token', () => {});
    expect((await stage.service.call('GET', '/prompts')).status).toBe(200);
    expect(await stage.signIn('partners')).toMatchObject({ error: null });
    expect(await hanging).toMatchObject(DOWN);
  });
  test('that sends a byte now and then is given up', async () => {
    const timers: NodeJS.Timeout[] = [];
    const dripping = await answering('/token', (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      timers.push(setInterval(() => response.write(' '), 200));
    });
    for (const timer of timers) clearInterval(timer);
    expect(dripping).toMatchObject(DOWN);
  });
  test.each(['/token', '/userinfo'])('that redirects from %s to an internal address is not followed', async (path) => {
    const seen: (string | undefined)[] = [];
    const inside = createServer((request, response) => {
      seen.push(request.url);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => inside.once('listening', resolve));
    const { port } = inside.address() as AddressInfo;
    const redirected = await answering(path, (_, response) =>
      response.writeHead(307, { Location: `http://127.0.0.1:${port}/secrets` }).end(),
    );
    expect(redirected).toMatchObject(DOWN);
    expect(seen).toEqual([]);
    inside.close();
  });
  test.each([
    ['long', Buffer.from(`{"x":"${'x'.repeat(2 * 1024 * 1024)}"}`), {}],
    ['packed', gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)), { 'Content-Encoding': 'gzip' }],
  ])('whose response is too %s is not read to its end', async (_kind, bytes, headers) => {
    const answer = await answering('/token', (_, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(bytes),
    );
    expect(answer).toMatchObject(DOWN);
  });
  test('with a new signing key is trusted at once', async () => {
    await stage.signIn('sso');
    await provider.rotate();
    expect(await stage.signIn('sso')).toMatchObject({ error: null });
  });
});

/** Like a browser that started while the provider was available. */
async function untilCallbackOf(issuer: string) {
  const surfer = createSurfer();
  const begun = await surfer.go(stage.loginUrl('sso'));
  const state = new URL(begun.headers.get('Location') ?? '').searchParams.get('state') ?? '';
  const callback = new URL(`${stage.service.origin}/auth/callback/sso`);
  callback.search = String(new URLSearchParams({ code: 'x', state, iss: issuer }));
  return { surfer, callback };
}
