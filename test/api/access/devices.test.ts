import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expiredBy } from '../../../src/capabilities.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { publicId } from '../../../src/domain/ids.ts';
import { cleanUp } from '../../../src/jobs/clean-up.ts';
import type { Scope } from '../../../src/services/access/api-keys.ts';
import { endAccess } from '../../../src/services/access/end-access.ts';
import { browserHeaders, signInMember } from '../../support/members.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const sql = (text: string, values: unknown[] = []) => service.dependencies.db.system.query({ text }, values);
const sha256 = (text: string) => createHash('sha256').update(text).digest();

interface Codes {
  device_code: string;
  user_code: string;
}

const begin = (client = 'pms on here', headers: Record<string, string> = {}) =>
  service.call('POST', '/device/authorizations', { key: null, headers, body: { client } });
async function codes(client?: string): Promise<Codes> {
  const { status, body } = await begin(client);
  expect(status).toBe(201);
  return body;
}
const poll = (device_code: string) => service.call('POST', '/device/token', { key: null, body: { device_code } });
const decide = (
  { user_code }: Pick<Codes, 'user_code'>,
  decision: 'approve' | 'deny',
  headers: Record<string, string>,
  body: object = {},
) =>
  service.call('POST', `/device/authorizations/${user_code}/${decision}`, {
    key: null,
    headers,
    ...(decision === 'approve' && { body }),
  });
const look = ({ user_code }: Pick<Codes, 'user_code'>, headers: Record<string, string>) =>
  service.call('GET', `/device/authorizations/${user_code}`, { key: null, headers });
const outcome = ({ status, body }: Answer) => [status, body.error?.code];

/** The headers of a session started with a key. */
async function sessionOf(key: string): Promise<Record<string, string>> {
  const { status, headers } = await service.call('POST', '/session', { key: null, body: { key } });
  expect(status).toBe(201);
  return browserHeaders(/pms_session=([^;]+)/.exec(headers.get('Set-Cookie') ?? '')?.[1] ?? '');
}

/** Makes a request older by moving its end or its last poll. */
const age = (device_code: string, column: 'expires_at' | 'polled_at', seconds: number) =>
  sql(
    `update device_authorizations set ${column} = ${column} - make_interval(secs => $2) where device_code_hash = $1`,
    [sha256(device_code), seconds],
  );

const whoIs = (key: string) => service.call('GET', '/api-keys/current', { key });

describe('a program gets a key of its approver', () => {
  test('who sees the request; the key is the person’s, made when fetched, and shown once', async () => {
    const { headers, memberId } = await signInMember(service, { role: 'editor', name: 'Ada' });
    const { body: given } = await begin('pms on workstation');
    expect(given).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${service.origin}/console/device`,
      verification_uri_complete: `${service.origin}/console/device?code=${given.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(outcome(await poll(given.device_code))).toEqual([400, 'authorization_pending']);
    // Case and hyphen do not matter.
    const typed = given.user_code.toLowerCase().replace('-', '');
    expect((await look({ user_code: typed }, headers)).body).toEqual({
      client: 'pms on workstation',
      address: '127.0.0.1',
      status: 'pending',
      key: { kind: 'personal', scopes: ['read', 'execute', 'score', 'ingest', 'write'], expires_at: null },
      created_at: expect.any(String),
      expires_at: expect.any(String),
    });
    const keysBefore = await sql('select id from api_keys');
    const approved = await decide(given, 'approve', headers, { scopes: ['read', 'execute'], expires_in_days: 30 });
    expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
    expect(await sql('select id from api_keys')).toHaveLength(keysBefore.length);
    const { status, body: key } = await poll(given.device_code);
    expect([status, key]).toEqual([
      201,
      {
        id: expect.stringMatching(/^key_/),
        key: expect.stringMatching(/^pms_\w{43}$/),
        name: 'pms on workstation',
        kind: 'personal',
        member_id: publicId('member', memberId),
        scopes: ['read', 'execute'],
        expires_at: approved.body.key.expires_at,
        revoked_at: null,
        last_used_at: null,
        created_at: expect.any(String),
        workspace: { name: 'default' },
      },
    ]);
    const days = (Date.parse(key.expires_at) - Date.now()) / (24 * 60 * 60_000);
    expect([days > 29.9, days <= 30]).toEqual([true, true]);
    expect((await whoIs(key.key)).body).toMatchObject({
      id: key.id,
      scopes: ['read', 'execute'],
      member: { id: publicId('member', memberId), name: 'Ada', role: 'editor' },
    });
    expect(outcome(await service.call('POST', '/prompts', { key: key.key, body: {} }))).toEqual([
      401,
      'insufficient_scope',
    ]);
    // Neither code works anymore.
    expect(outcome(await poll(given.device_code))).toEqual([400, 'expired']);
    expect(outcome(await look(given, headers))).toEqual([404, 'not_found']);
    expect(outcome(await decide(given, 'approve', headers))).toEqual([404, 'not_found']);
  });

  test('the audit log names the approver, and the address that fetched it', async () => {
    const { headers, memberId } = await signInMember(service, { role: 'admin', name: 'Grace' });
    const given = await codes('audited');
    await decide(given, 'approve', headers);
    const { body: key } = await poll(given.device_code);
    const { body } = await service.call('GET', '/audit-log?limit=1');
    expect(body.data[0]).toMatchObject({
      action: 'api_key.created',
      actor: { type: 'session', member_id: publicId('member', memberId), session_id: expect.stringMatching(/^sess_/) },
      resource: { id: key.id },
      details: { name: 'audited' },
      address: '127.0.0.1',
    });
  });

  test('stored data reveals neither a code nor a key', async () => {
    const { headers } = await signInMember(service, { role: 'viewer' });
    const given = await codes('stored');
    await decide(given, 'approve', headers);
    const stored = JSON.stringify(await sql(`select d::text from device_authorizations d where client = 'stored'`));
    expect(stored).toContain(sha256(given.device_code).toString('hex'));
    for (const secret of [given.device_code, given.user_code, given.user_code.replace('-', '')])
      expect(stored).not.toContain(secret);
    const { body: key } = await poll(given.device_code);
    const keys = JSON.stringify(await sql('select k::text from api_keys k'));
    expect(keys).toContain(sha256(key.key).toString('hex'));
    expect(keys).not.toContain(key.key);
  });

  test('the key ends with the membership, and loses scopes with the role', async () => {
    const { headers, memberId } = await signInMember(service, { role: 'publisher' });
    const given = await codes();
    await decide(given, 'approve', headers);
    const { body: key } = await poll(given.device_code);
    expect(key.scopes).toEqual(['read', 'execute', 'score', 'ingest', 'write', 'publish']);
    const [{ workspace_id: workspaceId }] = (await sql('select workspace_id from members where id = $1', [
      memberId,
    ])) as [{ workspace_id: string }];
    const inWorkspace = service.dependencies.db.workspace(workspaceId);
    await sql(`update members set role = 'viewer' where id = $1`, [memberId]);
    await inWorkspace.transaction((query) => endAccess(query, { members: [memberId] }, 'nothing'));
    await waitFor('less', async () => (await whoIs(key.key)).body.scopes.length === 1);
    await sql(`update members set status = 'removed' where id = $1`, [memberId]);
    await inWorkspace.transaction((query) => endAccess(query, { members: [memberId] }, 'keys'));
    await waitFor('the end of the key', async () => (await whoIs(key.key)).status === 401);
  });
});

describe('a session that a key started', () => {
  test('gives a key of the workspace that can do no more, and ends with that key', async () => {
    const parent = await createKey(service, 'read', 'execute');
    const headers = await sessionOf(parent.key);
    const given = await codes();
    expect((await look(given, headers)).body.key).toEqual({
      kind: 'service',
      scopes: ['read', 'execute'],
      expires_at: null,
    });
    expect(outcome(await decide(given, 'approve', headers, { scopes: ['read', 'write'] }))).toEqual([
      401,
      'insufficient_scope',
    ]);
    expect((await decide(given, 'approve', headers)).status).toBe(200);
    const { body: key } = await poll(given.device_code);
    expect(key).toMatchObject({ kind: 'service', member_id: null, scopes: ['read', 'execute'] });
    expect((await whoIs(key.key)).body.member).toBeNull();
    await service.call('DELETE', `/api-keys/${parent.id}`);
    await waitFor('the end of the key', async () => (await whoIs(key.key)).status === 401);
  });

  test('gives no key that outlives that key', async () => {
    const end = new Date(Date.now() + 60 * 60_000).toISOString();
    const { body: parent } = await service.call('POST', '/api-keys', {
      body: { name: 'short', scopes: ['read'], expires_at: end },
    });
    const headers = await sessionOf(parent.key);
    const given = await codes();
    expect((await look(given, headers)).body.key.expires_at).toBe(end);
    await decide(given, 'approve', headers, { expires_in_days: 365 });
    expect((await poll(given.device_code)).body.expires_at).toBe(end);
  });

  test('that was created this way creates no other: no chains', async () => {
    const first = await codes();
    await decide(first, 'approve', await sessionOf(service.key), { scopes: ['read'] });
    const headers = await sessionOf((await poll(first.device_code)).body.key);
    const second = await codes();
    for (const answer of [await look(second, headers), await decide(second, 'approve', headers)])
      expect(outcome(answer)).toEqual([400, 'invalid_state']);
    expect(outcome(await poll(second.device_code))).toEqual([400, 'authorization_pending']);
    expect((await decide(second, 'deny', headers)).body).toMatchObject({ status: 'denied', key: null });
  });
});

describe('only the person decides', () => {
  test('a key cannot see or approve it, whatever its scopes', async () => {
    const given = await codes();
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/approve'],
      ['POST', '/deny'],
    ] as const) {
      const answer = await service.call(method, `/device/authorizations/${given.user_code}${path}`);
      expect([path, ...outcome(answer)]).toEqual([path, 400, 'invalid_request']);
      expect(answer.body.error.message).toContain('signed in to the console');
    }
    expect(outcome(await poll(given.device_code))).toEqual([400, 'authorization_pending']);
  });

  test('a page of another origin can’t approve or ask with another person’s session', async () => {
    const { headers } = await signInMember(service, { role: 'admin' });
    const given = await codes();
    const { Cookie } = headers;
    for (const forged of [
      { Cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'cross-site' },
      { Cookie, 'X-Console': '1', Origin: 'https://evil.example' },
      { Cookie, 'X-Console': '1' },
      { Cookie, 'Sec-Fetch-Site': 'same-origin' },
    ] as Record<string, string>[])
      expect(outcome(await decide(given, 'approve', forged))).toEqual([401, 'unauthorized']);
    expect(outcome(await poll(given.device_code))).toEqual([400, 'authorization_pending']);
    for (const forged of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }] as Record<
      string,
      string
    >[])
      expect(outcome(await begin('forged', forged))).toEqual([401, 'unauthorized']);
  });

  test('if several people decide at once, one does, and the others are notified', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => signInMember(service, { role: 'viewer' })));
    const given = await codes();
    const answers = await Promise.all(
      people.map(({ headers }, index) => decide(given, index % 2 === 0 ? 'approve' : 'deny', headers)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(outcome(answer)).toEqual([404, 'not_found']);
  });

  test('approving or denying twice changes nothing', async () => {
    const { headers } = await signInMember(service, { role: 'editor' });
    const [approved, denied] = [await codes(), await codes()];
    await decide(approved, 'approve', headers, { scopes: ['read'] });
    expect(outcome(await decide(approved, 'approve', headers, { scopes: ['write'] }))).toEqual([400, 'invalid_state']);
    expect((await poll(approved.device_code)).body.scopes).toEqual(['read']);
    await decide(denied, 'deny', headers);
    expect(outcome(await decide(denied, 'approve', headers))).toEqual([400, 'invalid_state']);
    expect(outcome(await poll(denied.device_code))).toEqual([400, 'denied']);
  });

  test('approving in another workspace gives a key of that one, which is not seen elsewhere', async () => {
    const other = await createOtherWorkspace(service, 'devices-elsewhere');
    const [theirs, ours] = [await sessionOf(other.key), await sessionOf(service.key)];
    const given = await codes();
    await decide(given, 'approve', theirs);
    expect(outcome(await look(given, ours))).toEqual([404, 'not_found']);
    expect(outcome(await decide(given, 'deny', ours))).toEqual([404, 'not_found']);
    const { body: key } = await poll(given.device_code);
    expect(key.workspace).toEqual({ name: 'devices-elsewhere' });
    expect((await whoIs(key.key)).body.workspace).toEqual({ name: 'devices-elsewhere' });
    expect(JSON.stringify((await service.call('GET', '/api-keys')).body)).not.toContain(key.id);
  });
});

describe('between approval and fetch', () => {
  const approvedBy = async (headers: Record<string, string>) => {
    const given = await codes();
    expect((await decide(given, 'approve', headers)).status).toBe(200);
    return given;
  };

  test('the end of the session, its key or the membership ends it', async () => {
    const signedOut = await signInMember(service, { role: 'viewer' });
    const suspended = await signInMember(service, { role: 'viewer' });
    const parent = await createKey(service, 'read');
    const given = [
      await approvedBy(signedOut.headers),
      await approvedBy(suspended.headers),
      await approvedBy(await sessionOf(parent.key)),
    ];
    expect((await service.call('DELETE', '/session', { key: null, headers: signedOut.headers })).status).toBe(200);
    await sql(`update members set status = 'suspended' where id = $1`, [suspended.memberId]);
    await service.call('DELETE', `/api-keys/${parent.id}`);
    for (const { device_code } of given) expect(outcome(await poll(device_code))).toEqual([400, 'expired']);
  });

  test('a smaller role limits the key', async () => {
    const { headers, memberId } = await signInMember(service, { role: 'publisher' });
    const given = await approvedBy(headers);
    await sql(`update members set role = 'runner' where id = $1`, [memberId]);
    expect((await poll(given.device_code)).body.scopes).toEqual(['read', 'execute', 'score', 'ingest']);
  });

  test('twenty polls at once get one key', async () => {
    const { headers } = await signInMember(service, { role: 'viewer' });
    const given = await approvedBy(headers);
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(given.device_code)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(outcome(answer)).toEqual([400, 'expired']);
  });
});

describe('codes', () => {
  test('expire, are useless when altered, and are cleaned up', async () => {
    const { headers } = await signInMember(service, { role: 'viewer' });
    const [open, pending, approved] = [await codes(), await codes(), await codes()];
    await decide(approved, 'approve', headers);
    for (const { device_code } of [pending, approved]) await age(device_code, 'expires_at', 601);
    for (const { device_code } of [pending, approved])
      expect(outcome(await poll(device_code))).toEqual([400, 'expired']);
    expect(outcome(await look(pending, headers))).toEqual([404, 'not_found']);
    expect(outcome(await decide(pending, 'approve', headers))).toEqual([404, 'not_found']);
    for (const guess of ['', 'x', 'A'.repeat(43), `${open.device_code}x`, open.user_code])
      expect(outcome(await poll(guess))[0]).toBe(400);
    const db = await openDatabase(service.databaseUrl, { poolSize: 2 });
    await cleanUp(db.system, expiredBy({ events: 60_000 }));
    await db.close();
    const left = await sql(
      'select device_code_hash as hash from device_authorizations where device_code_hash = any($1)',
      [[open, pending, approved].map(({ device_code }) => sha256(device_code))],
    );
    expect(left).toEqual([{ hash: sha256(open.device_code) }]);
  });

  test('can be guessed twenty times a minute, even if the last guess is right', async () => {
    const [guesser, other] = await Promise.all([
      signInMember(service, { role: 'viewer' }),
      signInMember(service, { role: 'viewer' }),
    ]);
    const given = await codes();
    for (let guess = 0; guess < 20; guess += 1)
      expect(outcome(await look({ user_code: 'BBBB-BBBB' }, guesser.headers))).toEqual([404, 'not_found']);
    for (const answer of [await look(given, guesser.headers), await decide(given, 'approve', guesser.headers)]) {
      expect(outcome(answer)).toEqual([429, 'rate_limited']);
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    expect((await look(given, other.headers)).status).toBe(200);
  });

  test('a program that polls too fast is asked to slow down, and still gets its key', async () => {
    const { headers } = await signInMember(service, { role: 'viewer' });
    const given = await codes();
    expect(outcome(await poll(given.device_code))).toEqual([400, 'authorization_pending']);
    const tooSoon = await poll(given.device_code);
    expect([...outcome(tooSoon), tooSoon.headers.get('Retry-After')]).toEqual([400, 'slow_down', '10']);
    await age(given.device_code, 'polled_at', 6);
    expect((await poll(given.device_code)).body.error).toMatchObject({
      code: 'slow_down',
      message: expect.stringContaining('15 seconds'),
    });
    await age(given.device_code, 'polled_at', 15);
    expect(outcome(await poll(given.device_code))).toEqual([400, 'authorization_pending']);
    await decide(given, 'approve', headers);
    expect((await poll(given.device_code)).status).toBe(201);
  });
});

test('keys from programs count for the limit of personal keys', async () => {
  const member = await signInMember(service, { role: 'viewer' });
  for (let count = 0; count < 20; count += 1) {
    const body = { name: `key ${count}`, scopes: ['read'] };
    expect((await service.call('POST', '/me/api-keys', { key: null, headers: member.headers, body })).status).toBe(201);
  }
  const given = await codes();
  expect((await decide(given, 'approve', member.headers)).status).toBe(200);
  expect(outcome(await poll(given.device_code))).toEqual([429, 'quota_exceeded']);
  // Room for the keys of others.
  await service.call('DELETE', `/members/${publicId('member', member.memberId)}`);
});

test('fifty simultaneous programs get fifty keys, each of its approver', async () => {
  const people = await Promise.all(
    Array.from({ length: 50 }, (_, index) => signInMember(service, { role: 'viewer', name: `Person ${index}` })),
  );
  const keys = await Promise.all(
    people.map(async ({ headers, memberId }, index) => {
      const given = await codes(`program ${index}`);
      expect((await decide(given, 'approve', headers)).status).toBe(200);
      const { body } = await poll(given.device_code);
      expect([body.name, body.member_id]).toEqual([`program ${index}`, publicId('member', memberId)]);
      return body.key;
    }),
  );
  expect(new Set(keys).size).toBe(50);
});

test('a deceptive name is refused', async () => {
  for (const client of ['', 'x'.repeat(101), 'a\nb', 'a\u202eb', 7])
    expect(outcome(await service.call('POST', '/device/authorizations', { key: null, body: { client } }))).toEqual([
      400,
      'invalid_request',
    ]);
});

test('the requested key has limits', async () => {
  const { headers } = await signInMember(service, { role: 'admin' });
  const given = await codes();
  for (const body of [{ scopes: [] }, { scopes: ['all'] }, { expires_in_days: 0 }, { expires_in_days: 366 }, { x: 1 }])
    expect(outcome(await decide(given, 'approve', headers, body))).toEqual([400, 'invalid_request']);
  expect((await decide(given, 'approve', headers)).body.key.scopes).toContain('admin');
});

describe('a key of a request is revoked by that request', () => {
  test.each<Scope>(['read', 'score', 'admin'])('with the scope %s', async (scope) => {
    const { id, key } = await createKey(service, scope);
    const { status, body } = await service.call('DELETE', '/api-keys/current', { key });
    expect([status, body]).toEqual([200, expect.objectContaining({ id, revoked_at: expect.any(String) })]);
    const { body: log } = await service.call('GET', '/audit-log?limit=1');
    expect(log.data[0]).toMatchObject({
      action: 'api_key.revoked',
      actor: { type: 'api_key', key_id: id },
      resource: { id },
    });
    expect((await whoIs(key)).status).toBe(401);
  });

  test('but not by a session of it', async () => {
    const { key } = await createKey(service, 'read');
    const headers = await sessionOf(key);
    const answer = await service.call('DELETE', '/api-keys/current', { key: null, headers });
    expect(outcome(answer)).toEqual([400, 'invalid_request']);
    expect((await whoIs(key)).status).toBe(200);
  });
});
