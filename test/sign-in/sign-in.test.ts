import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type SignInStage, settingsOf, startSignInStage } from '../support/identity/stage.ts';
import { type StandIn, startStandIn } from '../support/identity/stand-in.ts';
import { createSurfer } from '../support/identity/surfer.ts';

let provider: StandIn;
let partners: StandIn;
let stage: SignInStage;
beforeAll(async () => {
  [provider, partners] = [await startStandIn(), await startStandIn({ clientId: 'other', algorithm: 'ES256' })];
  stage = await startSignInStage([
    settingsOf('sso', provider),
    settingsOf('partners', partners, { role_strict: false, allowed_groups: ['partners'], role_mapping: undefined }),
  ]);
});
afterEach(() => {
  provider.reset();
  partners.reset();
});
afterAll(async () => {
  await stage?.stop();
  await Promise.all([provider?.stop(), partners?.stop()]);
});

describe('signing in', () => {
  test('leads to where it began, with a session of the person', async () => {
    const { at, call, surfer } = await stage.signIn('sso', { returnTo: '/console/executions?status=failed#x' });
    expect(at).toBe('/console/executions?status=failed');
    expect(surfer.received.find((line) => line.startsWith('pms_session='))).toMatch(/HttpOnly; SameSite=Strict$/);
    const { body } = await call('GET', '/session');
    expect(body).toMatchObject({
      member: { name: 'Ada', role: 'editor' },
      provider: 'sso',
      workspace: { name: 'default' },
      workspaces: [{ name: 'default', role: 'editor' }],
    });
    expect(body.key.scopes).toEqual(['read', 'execute', 'score', 'ingest', 'write']);
    const log = await stage.service.call('GET', '/audit-log?limit=2');
    expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual(['session.created', 'member.joined']);
    expect(log.body.data[0].actor).toMatchObject({ member_id: body.member.id });
  });

  test('leaves no login data in the browser', async () => {
    const { surfer } = await stage.signIn('sso');
    expect([...surfer.cookies(stage.service.origin).keys()]).toEqual(['pms_session']);
  });

  test('asks with its own PKCE, state and nonce for each login', async () => {
    const asked = async () => {
      const response = await createSurfer().go(stage.loginUrl('sso'));
      return new URL(response.headers.get('Location') ?? '').searchParams;
    };
    const [one, other] = [await asked(), await asked()];
    expect(one.get('code_challenge_method')).toBe('S256');
    for (const name of ['code_challenge', 'state', 'nonce']) {
      expect(one.get(name)?.length).toBeGreaterThanOrEqual(38);
      expect(one.get(name)).not.toBe(other.get(name));
    }
  });

  test('maps the claims, and is renewed by each sign-in', async () => {
    provider.person = { sub: 'lin', name: 'Lin', groups: ['leads', 'engineers', 7, 'unknown'] };
    const { call } = await stage.signIn('sso');
    expect((await call('GET', '/session')).body).toMatchObject({
      member: { role: 'admin' },
      workspaces: [
        { name: 'default', role: 'admin' },
        { name: 'research', role: 'viewer' },
      ],
    });
    provider.person = { sub: 'lin', name: 'Lin L.', groups: ['engineers'] };
    const again = await stage.signIn('sso');
    expect((await again.call('GET', '/session')).body).toMatchObject({
      member: { role: 'editor', name: 'Lin L.' },
      workspaces: [{ name: 'default', role: 'editor' }],
    });
    // The previous session has fewer permissions, too.
    expect((await call('GET', '/api-keys')).body.error?.code).toBe('insufficient_scope');
  });

  test('without a role from a group is refused, and nothing is kept', async () => {
    provider.person = { sub: 'stranger', name: 'Stranger' };
    const { error, session, at } = await stage.signIn('sso');
    expect({ error, session }).toEqual({ error: 'no_role', session: undefined });
    expect(at).toBe('/console/sign-in?error=no_role&provider=sso&to=%2Fprompts');
    const users = await stage.service.dependencies.db.system.query((all) =>
      all.selectFrom('users').select('id').where('subject', '=', 'stranger'),
    );
    expect(users).toEqual([]);
  });

  test('without strict roles, gives members of an allowed group a viewer’s, and refuses others', async () => {
    partners.person = { sub: 'pat', name: 'Pat', groups: ['partners'] };
    const { call, untilOut } = await stage.signIn('partners');
    expect((await call('GET', '/session')).body.member).toMatchObject({ role: 'viewer' });
    partners.person = { sub: 'pat', name: 'Pat', groups: ['default:admin'] };
    expect(await stage.signIn('partners')).toMatchObject({ error: 'no_role', session: undefined });
    await untilOut();
    partners.person = { sub: 'pat', name: 'Pat', groups: ['partners', 'default:publisher'] };
    const again = await stage.signIn('partners');
    expect((await again.call('GET', '/session')).body.member).toMatchObject({ role: 'publisher' });
  });

  test('silently, shows that the provider would have to ask', async () => {
    provider.redirect = (_, request) => {
      const error = request.get('prompt') === 'none' ? 'login_required' : 'server_error';
      return new URLSearchParams({ error, state: request.get('state') ?? '', iss: provider.issuer });
    };
    const surfer = createSurfer();
    const { at } = await surfer.follow(`${stage.loginUrl('sso')}&silent=1`, (to) => to.pathname.startsWith('/console'));
    expect(stage.seen(surfer, at).error).toBe('not_signed_in');
    expect((await stage.signIn('sso')).error).toBe('provider_down');
  });

  test('twice in tabs of one browser works', async () => {
    const surfer = createSurfer();
    const logins: Response[] = [];
    for (const path of ['/console/prompts', '/console/datasets'])
      logins.push(await surfer.go(stage.loginUrl('sso', path)));
    for (const [index, path] of [...['/console/prompts', '/console/datasets'].entries()].reverse()) {
      const begun = logins[index]?.headers.get('Location') ?? '';
      const { at } = await surfer.follow(begun, (to) => to.pathname.startsWith('/console'));
      expect(at.pathname).toBe(path);
    }
  });

  test('begun at another address of the service continues at the one known to the provider', async () => {
    const at = stage.loginUrl('sso').replace('127.0.0.1', 'localhost');
    const response = await createSurfer().go(at);
    expect(response.headers.get('Location')).toBe(`${stage.loginUrl('sso')}&here=1`);
  });
});

describe('switching to another workspace', () => {
  test('begins a session there, ends the one before, and is where the next sign-in leads', async () => {
    provider.person = { sub: 'sam', name: 'Sam', groups: ['leads'] };
    const before = await stage.signIn('sso');
    const answer = await before.call('POST', '/session/workspace', { workspace: 'research' });
    expect(answer.body).toMatchObject({
      workspace: { name: 'research' },
      member: { role: 'viewer' },
      is_current: true,
    });
    await before.untilOut();
    const token = /^pms_session=([^;]+)/.exec(answer.headers.get('Set-Cookie') ?? '')?.[1];
    const headers = { Cookie: `pms_session=${token}`, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' };
    const now = await stage.service.call('GET', '/session', { key: null, headers });
    expect(now.body).toMatchObject({ workspace: { name: 'research' }, drafts_key: answer.body.drafts_key });
    const next = await stage.signIn('sso');
    expect((await next.call('GET', '/session')).body.workspace.name).toBe('research');
  });

  test('is refused if the person is not a member, and to a session of a key', async () => {
    const { call } = await stage.signIn('sso');
    expect((await call('POST', '/session/workspace', { workspace: 'research' })).body.error.code).toBe('not_found');
    const byKey = await stage.service.call('POST', '/session', { key: null, body: { key: stage.service.key } });
    const cookie = byKey.headers.get('Set-Cookie')?.split(';')[0] ?? '';
    const answer = await stage.service.call('POST', '/session/workspace', {
      key: null,
      headers: { Cookie: cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' },
      body: { workspace: 'research' },
    });
    expect(answer.body.error).toMatchObject({ code: 'invalid_request' });
    expect(byKey.body).toMatchObject({ provider: null, member: null, workspaces: [] });
  });
});

describe('signing out', () => {
  test('shows the sign-out of the provider', async () => {
    const { call } = await stage.signIn('sso');
    const { body } = await call('DELETE', '/session');
    const url = new URL(body.end_session_url);
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/logout`);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${stage.service.origin}/console/sign-in`);
    expect(url.searchParams.get('id_token_hint')?.split('.')).toHaveLength(3);
    expect((await call('GET', '/session')).status).toBe(401);
  });

  test('does not show it to a session of a key', async () => {
    const byKey = await stage.service.call('POST', '/session', { key: null, body: { key: stage.service.key } });
    const cookie = byKey.headers.get('Set-Cookie')?.split(';')[0] ?? '';
    const headers = { Cookie: cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' };
    const answer = await stage.service.call('DELETE', '/session', { key: null, headers });
    expect(answer.body.end_session_url).toBeNull();
  });
});
