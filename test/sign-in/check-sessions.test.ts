import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { checkSessions } from '../../src/sign-in/check-sessions.ts';
import { type SignInStage, settingsOf, startSignInStage } from '../support/identity/stage.ts';
import { type StandIn, startStandIn } from '../support/identity/stand-in.ts';
import { waitFor } from '../support/wait-for.ts';

let provider: StandIn;
let google: StandIn;
let entra: StandIn;
let stage: SignInStage;
beforeAll(async () => {
  [provider, google] = [await startStandIn(), await startStandIn({ clientId: 'other' })];
  entra = await startStandIn({ clientId: 'third' });
  google.tokens = (response) => ({ ...response, refresh_token: undefined });
  stage = await startSignInStage([
    settingsOf('sso', provider),
    settingsOf('google', google),
    settingsOf('entra', entra, { subject_claim: 'oid' }),
  ]);
});
afterEach(() => provider.reset());
afterAll(async () => {
  await stage?.stop();
  await Promise.all([provider?.stop(), google?.stop(), entra?.stop()]);
});

const signIn = (person: { sub: string } & Record<string, unknown>) => {
  provider.person = { name: person.sub, groups: ['engineers'], ...person };
  return stage.signIn('sso');
};
const change = (set: Record<string, ReturnType<typeof sql<Date>>>) =>
  stage.service.dependencies.db.system.query((all) =>
    all
      .updateTable('sessions')
      .set(set as never)
      .where('provider', 'is not', null),
  );
/** Lets ten minutes pass, and runs the check. */
async function check(): Promise<void> {
  const { db, cipher, identityProviders: providers, log } = stage.service.dependencies;
  await change({ check_at: sql<Date>`now()` });
  await checkSessions({ db, cipher, providers, log }, new AbortController().signal);
}
const sessions = () =>
  stage.service.dependencies.db.system.query((all) =>
    all
      .selectFrom('sessions')
      .select(['provider', 'provider_tokens'])
      .select(sql<number>`extract(epoch from check_at - now()) / 60`.as('check_in'))
      .select(sql<number>`extract(epoch from valid_until - now()) / 60`.as('valid_for'))
      .select(sql<number>`extract(epoch from expires_at - now()) / 60`.as('expires_in'))
      .where('provider', 'is not', null)
      .orderBy('created_at', 'desc'),
  );
const around = (minutes: number) => ({ asymmetricMatch: (value: unknown) => Math.abs(Number(value) - minutes) < 0.5 });
const lastEntries = async (count: number) =>
  (await stage.service.call('GET', `/audit-log?limit=${count}`)).body.data.map(
    ({ action, details }: { action: string; details: { reason?: string } }) =>
      `${action} ${details.reason ?? ''}`.trim(),
  );

test('a session is checked within 15 minutes of the last time, and lasts while the provider confirms it', async () => {
  const { call } = await signIn({ sub: 'stays' });
  expect((await sessions())[0]).toMatchObject({ check_in: around(10), valid_for: around(60), expires_in: around(60) });
  const given = [...provider.refreshTokens.keys()];
  await change({
    valid_until: sql<Date>`now() + interval '1 minute'`,
    expires_at: sql<Date>`now() + interval '1 minute'`,
  });
  await check();
  expect((await sessions())[0]).toMatchObject({ check_in: around(10), valid_for: around(60), expires_in: around(60) });
  // Tokens rotate, and the next check uses the new one.
  expect([...provider.refreshTokens.keys()].some((token) => given.includes(token))).toBe(false);
  await check();
  expect((await call('GET', '/session')).status).toBe(200);
});

test('losing a group changes the role, even in a running session', async () => {
  const { call } = await signIn({ sub: 'demoted', groups: ['leads'] });
  expect((await call('GET', '/api-keys')).status).toBe(200);
  provider.person = { sub: 'demoted', name: 'Demoted', groups: ['engineers'] };
  await check();
  await waitFor('the new role', async () => (await call('GET', '/api-keys')).body.error?.code === 'insufficient_scope');
  expect((await call('GET', '/session')).body.member).toMatchObject({ name: 'Demoted', role: 'editor' });
});

test('losing every role ends access and personal keys', async () => {
  const { untilOut } = await signIn({ sub: 'roleless' });
  provider.person = { sub: 'roleless', groups: ['gardeners'] };
  await check();
  await untilOut();
  // Sessions of earlier tests are checked as well, and end too: their tokens are gone.
  expect(await lastEntries(3)).toContain('member.removed the identity provider no longer assigns a role');
});

test('a person removed by an admin does not return by a check in another workspace', async () => {
  const { call } = await signIn({ sub: 'elsewhere', groups: ['leads'] });
  const research = await call('POST', '/session/workspace', { workspace: 'research' });
  expect(research.status).toBe(200);
  const { query } = stage.service.dependencies.db.system;
  const states = async () =>
    (
      await query((all) =>
        all
          .selectFrom('members as m')
          .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
          .select(['m.id', 'm.status', 'w.name'])
          .where('m.name', '=', 'elsewhere')
          .orderBy('w.name'),
      )
    ).map(({ id, name, status }) => ({ id, is: `${name} ${status}` }));
  const [inDefault] = await states();
  expect((await stage.service.call('DELETE', `/members/mem_${inDefault?.id}`)).status).toBe(200);
  await check();
  expect((await states()).map(({ is }) => is)).toEqual(['default removed', 'research active']);
  await signIn({ sub: 'elsewhere', groups: ['leads'] });
  expect((await states()).map(({ is }) => is)).toEqual(['default active', 'research active']);
});

test('settings by an admin survive a sign-in without groups', async () => {
  const { call } = await signIn({ sub: 'sly', groups: ['leads'] });
  const { body } = await call('GET', '/session');
  const set = await stage.service.call('PATCH', `/members/${body.member.id}`, { body: { role: 'viewer' } });
  expect(set.body).toMatchObject({ role: 'viewer' });
  provider.person = { sub: 'sly', name: 'sly' };
  expect(await stage.signIn('sso')).toMatchObject({ error: 'no_role' });
  const again = await signIn({ sub: 'sly', groups: ['leads'] });
  expect((await again.call('GET', '/session')).body.member).toMatchObject({ role: 'viewer' });
});

test('a removed person is out', async () => {
  const { untilOut } = await signIn({ sub: 'gone' });
  provider.refreshTokens.clear();
  await check();
  await untilOut();
  expect((await lastEntries(3)).join()).toContain('session.ended the identity provider has ended the sign-in');
});

test('an unreachable provider is retried each minute, and the session ends after an hour', async () => {
  const { call, untilOut } = await signIn({ sub: 'waits' });
  await provider.stop();
  await check();
  expect((await call('GET', '/session')).status).toBe(200);
  expect((await sessions())[0]).toMatchObject({ check_in: around(1), valid_for: around(60) });
  await provider.start();
  await check();
  expect((await sessions())[0]).toMatchObject({ check_in: around(10) });
  await change({ valid_until: sql<Date>`now()`, expires_at: sql<Date>`now()` });
  stage.service.dependencies.listener.connected();
  // Like a process that has not seen it yet: its cache is half a minute old at most.
  await untilOut();
});

test('one that fails, or has changed keys, ends no session at once', async () => {
  const { call } = await signIn({ sub: 'patient' });
  provider.on.set('/token', (_, response) =>
    response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"invalid_client"}'),
  );
  await check();
  provider.on.set('/token', (_, response) => response.writeHead(502).end());
  await check();
  expect((await call('GET', '/session')).status).toBe(200);
});

test('a check that returns another person changes nothing, and is not one', async () => {
  const { call } = await signIn({ sub: 'victim' });
  provider.userInfo = (claims) => ({ ...claims, sub: 'other', groups: ['leads'] });
  await check();
  expect((await call('GET', '/session')).body.member).toMatchObject({ role: 'editor' });
  expect((await sessions())[0]).toMatchObject({ check_in: around(1) });
});

test('if a person continues in another workspace during a provider check, the new session has the new tokens', async () => {
  const { call } = await signIn({ sub: 'moves', groups: ['leads'] });
  let arrived: () => void = () => {};
  let letGo: () => void = () => {};
  const isAsked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const mayGo = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  provider.on.set('/userinfo', async (_, response) => {
    arrived();
    await mayGo;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(provider.person));
  });
  const looking = check();
  await isAsked;
  const moved = await call('POST', '/session/workspace', { workspace: 'research' });
  expect(moved.status).toBe(200);
  letGo();
  await looking;
  provider.on.clear();
  await check();
  const cookie = moved.headers.get('Set-Cookie')?.split(';')[0] ?? '';
  const answer = await stage.service.call('GET', '/session', { key: null, headers: { Cookie: cookie } });
  expect(answer.body).toMatchObject({ workspace: { name: 'research' }, member: { role: 'viewer' } });
});

test('several processes share it', async () => {
  await signIn({ sub: 'once' });
  const { db, cipher, identityProviders: providers, log } = stage.service.dependencies;
  await change({ check_at: sql<Date>`now()` });
  provider.asked.length = 0;
  const [row] = await db.system.query((all) =>
    all
      .selectFrom('sessions')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('provider', '=', 'sso')
      .where('expires_at', '>', sql<Date>`now()`),
  );
  const { signal } = new AbortController();
  await Promise.all([1, 2, 3].map(() => checkSessions({ db, cipher, providers, log }, signal)));
  expect(provider.asked.filter((path) => path === '/token')).toHaveLength(row?.count ?? 0);
});

test('if a provider gives no refresh token, the session lasts for 15 minutes, however much it is used', async () => {
  await stage.signIn('google');
  const [session] = (await sessions()).filter((each) => each.provider === 'google');
  expect(session).toMatchObject({ valid_for: around(15), expires_in: around(15), check_in: null });
});

test('a claim other than `sub` identifies the person, if configured, also when the provider is called again', async () => {
  entra.person = { sub: 'of this application', oid: 'object-1', name: 'Eve', groups: ['engineers'] };
  const { call } = await stage.signIn('entra');
  const known = () =>
    stage.service.dependencies.db.system.query((all) =>
      all.selectFrom('users').select('subject').where('issuer', '=', entra.issuer),
    );
  expect(await known()).toEqual([{ subject: 'object-1' }]);
  await check();
  expect((await call('GET', '/session')).body).toMatchObject({ provider: 'entra', member: { name: 'Eve' } });
  expect(await known()).toEqual([{ subject: 'object-1' }]);
  entra.person = { sub: 'of this application', name: 'Eve', groups: ['engineers'] };
  expect(await stage.signIn('entra')).toMatchObject({ error: 'invalid_response', session: undefined });
  expect((await call('GET', '/session')).status).toBe(200);
});
