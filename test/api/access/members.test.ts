import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ROLES, type Role, scopesOfRole } from '../../../src/domain/roles.ts';
import { type EventReader, readEvents } from '../../support/event-stream.ts';
import { memberOf, personalKey, signIn, startSecondApi, type TestMember } from '../../support/members.ts';
import { createCall, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

const ISSUER = 'https://id.example.com';

let service: TestService;
let second: Awaited<ReturnType<typeof startSecondApi>>;
beforeAll(async () => {
  service = await startTestService(
    {
      OIDC_ISSUER: ISSUER,
      OIDC_CLIENT_ID: 'pms',
      OIDC_NAME: 'Acme',
      PUBLIC_URL: 'http://127.0.0.1:3000',
      QUOTA_API_KEYS: '200',
    },
    { workers: false },
  );
  second = await startSecondApi(service);
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'It.', model: 'sandbox/echo' } });
});
const open: EventReader[] = [];
afterEach(() => {
  for (const reader of open.splice(0)) reader.close();
});
afterAll(async () => {
  await second?.close();
  await service?.stop();
});

const patch = (id: string, body: object, key = service.key) => service.call('PATCH', `/members/${id}`, { key, body });
/** A call with a key in the other process. */
const elsewhere = (method: string, path: string, key: string, body?: object) =>
  createCall(second.origin, key)(method, path, body === undefined ? {} : { body });
const by = (session: Record<string, string>) => ({ key: null, headers: session });

async function actionsOf(id: string): Promise<unknown[]> {
  const { body } = await service.call('GET', `/audit-log?resource=member:${id}&limit=100`);
  return body.data.map((entry: { action: string; details: object }) => [entry.action, entry.details]).toReversed();
}

describe('members', () => {
  test('are listed in pages, searched by name and e-mail address, and filtered by status', async () => {
    const [ada, grace] = [
      await memberOf(service, 'editor', { name: 'Searched Ada', email: 'ada@searched.example' }),
      await memberOf(service, 'viewer', { name: 'Searched 100%', email: null }),
    ];
    const list = async (query: string) => {
      const { status, body } = await service.call('GET', `/members?${query}`);
      expect([query, status]).toEqual([query, 200]);
      return body;
    };
    const idsIn = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id);
    expect(await idsIn('search=sEARCHED')).toEqual([grace.id, ada.id]);
    expect(await idsIn('search=@searched.')).toEqual([ada.id]);
    // Wildcards of LIKE are literal.
    expect(await idsIn('search=100%25')).toEqual([grace.id]);
    expect(await idsIn('search=s_arched')).toEqual([]);
    const first = await list('search=searched&limit=1');
    expect([first.data.length, await idsIn(`search=searched&limit=1&cursor=${first.next_cursor}`)]).toEqual([
      1,
      [ada.id],
    ]);
    await patch(grace.id, { status: 'suspended' });
    expect(await idsIn('search=searched&status=suspended')).toEqual([grace.id]);
    expect(await idsIn('search=searched&status=active')).toEqual([ada.id]);
    const one = await service.call('GET', `/members/${ada.id}`);
    expect(one.body).toEqual({
      id: ada.id,
      name: 'Searched Ada',
      email: 'ada@searched.example',
      role: 'editor',
      role_set: null,
      status: 'active',
      last_seen_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    await service.call('GET', '/me', by(ada.session));
    await waitFor('the last use', async () => (await service.call('GET', `/members/${ada.id}`)).body.last_seen_at);
  });

  test('of another workspace are not found', async () => {
    const other = await createOtherWorkspace(service, 'neighbours');
    const mine = await memberOf(service, 'viewer');
    expect((await other.call('GET', '/members')).body.data).toEqual([]);
    for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { role: 'admin' }]] as const)
      expect([method, (await other.call(method, `/members/${mine.id}`, body && { body })).status]).toEqual([
        method,
        404,
      ]);
    expect((await service.call('GET', `/members/${mine.id}`)).body).toMatchObject({ role: 'viewer', status: 'active' });
  });

  test.each(ROLES.filter((role) => role !== 'admin'))('are not changed by a %s', async (role) => {
    const [mine, caller] = [await memberOf(service, 'viewer'), await memberOf(service, role)];
    for (const [method, body] of [['DELETE'], ['PATCH', { role: 'admin' }]] as const) {
      const { status, body: answer } = await service.call(method, `/members/${mine.id}`, {
        key: caller.key,
        ...(body && { body }),
      });
      expect([status, answer.error.code]).toEqual([401, 'insufficient_scope']);
    }
    expect((await patch(caller.id, { role: 'admin' }, caller.key)).body.error.code).toBe('insufficient_scope');
  });

  test.each([{}, { role: 'owner' }, { status: 'removed' }, { role: 'admin', name: 'x' }, { role: ['admin'] }])(
    'are not changed by %j',
    async (body) => {
      const { id } = await memberOf(service, 'viewer');
      expect((await patch(id, body)).body.error.code).toBe('invalid_request');
    },
  );
});

/** The permissions of each role: for each, an operation that requires it and is harmless. */
const NEEDS = [
  ['viewer', 'GET', '/prompts'],
  ['runner', 'POST', '/executions/exec_x/cancel'],
  ['editor', 'POST', '/prompts/nothing/restore'],
  ['admin', 'GET', '/api-keys'],
] as const;

async function allowedOf(key: string, origin = service.origin): Promise<Role[]> {
  const call = createCall(origin, key);
  const answers = await Promise.all(
    NEEDS.map(async ([role, method, path]) => ((await call(method, path)).status === 401 ? [] : [role])),
  );
  return answers.flat();
}

describe('a role', () => {
  test.each(ROLES.map((role, index) => [role, index] as const))(
    '%s limits keys and sessions to its scopes',
    async (role, index) => {
      const { key, session } = await memberOf(service, role);
      expect(await allowedOf(key)).toEqual(ROLES.slice(0, index + 1).filter((each) => each !== 'publisher'));
      const me = await service.call('GET', '/me', by(session));
      expect(me.body).toMatchObject({ role, key: { kind: 'sign_in' } });
      expect(me.body.scopes).toEqual(scopesOfRole(role));
      expect(me.body.scopes).toEqual((await service.call('GET', '/me', { key })).body.scopes);
    },
  );

  test('set by an admin applies at once in every process, for sessions and personal keys', async () => {
    const member = await memberOf(service, 'publisher');
    const narrow = await personalKey(service, member, 'write');
    const roleElsewhere = async () => (await elsewhere('GET', '/me', member.key)).body.role;
    expect(await roleElsewhere()).toBe('publisher');
    expect((await elsewhere('POST', '/prompts/nothing/restore', narrow)).status).toBe(404);
    expect((await patch(member.id, { role: 'viewer' })).body).toMatchObject({ role: 'viewer', role_set: 'viewer' });
    const started = Date.now();
    expect((await service.call('GET', '/me', by(member.session))).body.scopes).toEqual(['read']);
    expect(await allowedOf(member.key)).toEqual(['viewer']);
    await waitFor('the other process', async () => (await roleElsewhere()) === 'viewer');
    await waitFor(
      'the other process to refuse what is left',
      async () => (await elsewhere('POST', '/prompts/nothing/restore', narrow)).status === 401,
    );
    expect(Date.now() - started).toBeLessThan(5_000);
    // Promoted again, but a key never exceeds its original scopes.
    await patch(member.id, { role: 'admin' });
    await waitFor('the other process', async () => (await roleElsewhere()) === 'admin');
    expect((await elsewhere('GET', '/api-keys', narrow)).status).toBe(401);
    // The provider's again.
    expect((await patch(member.id, { role: null })).body).toMatchObject({ role: 'publisher', role_set: null });
    expect(await actionsOf(member.id)).toEqual([
      ['member.role_changed', { role: 'viewer', previous_role: 'publisher' }],
      ['member.role_changed', { role: 'admin', previous_role: 'viewer' }],
      ['member.role_changed', { role: 'publisher', previous_role: 'admin' }],
    ]);
  });

  test('is not restored if the provider gives none', async () => {
    const member = await memberOf(service, 'editor');
    await service.dependencies.db.system.query({ text: `update users set grants = '[]' where id = $1` }, [
      member.userId.slice(4),
    ]);
    const { status, body } = await patch(member.id, { role: null });
    expect([status, body.error.code]).toEqual([400, 'invalid_state']);
    expect((await service.call('GET', `/members/${member.id}`)).body.role).toBe('editor');
  });
});

/** Streams of a run that never ends, in both processes, with a key and with a session. */
async function openStreams({ key, session }: Pick<TestMember, 'key' | 'session'>): Promise<EventReader[]> {
  const { body } = await service.call('POST', '/executions', {
    body: { prompt_name: 'say' },
    headers: { Prefer: 'respond-async' },
  });
  const readers = await Promise.all(
    [service.origin, second.origin].flatMap((origin) => [
      readEvents({ origin, key }, `/executions/${body.id}/stream`),
      readEvents({ origin, key: '' }, `/executions/${body.id}/stream`, { headers: { ...session, Authorization: '' } }),
    ]),
  );
  open.push(...readers);
  for (const { status } of readers) expect(status).toBe(200);
  return readers;
}

async function expectEndWithin5s(readers: EventReader[]): Promise<void> {
  const started = Date.now();
  expect(new Set(await Promise.all(readers.map(({ ended }) => ended)))).toEqual(new Set(['cut']));
  expect(Date.now() - started).toBeLessThan(5_000);
}

describe('a suspension', () => {
  test('applies at once everywhere, including open streams, and can be ended', async () => {
    const member = await memberOf(service, 'runner');
    const readers = await openStreams(member);
    expect((await patch(member.id, { status: 'suspended' })).body.status).toBe('suspended');
    await expectEndWithin5s(readers);
    for (const answer of [
      await service.call('GET', '/me', { key: member.key }),
      await service.call('GET', '/me', by(member.session)),
      await elsewhere('GET', '/me', member.key),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
    expect((await patch(member.id, { status: 'active' })).body.status).toBe('active');
    expect((await service.call('GET', '/me', { key: member.key })).status).toBe(200);
    expect((await elsewhere('GET', '/me', member.key)).status).toBe(200);
    // An ended session does not come back.
    expect((await service.call('GET', '/me', by(member.session))).status).toBe(401);
    expect((await actionsOf(member.id)).map((entry) => (entry as string[])[0])).toEqual([
      'member.suspended',
      'member.reinstated',
    ]);
  });
});

test('an open stream ends within 5 s after it loses its scope, and others continue', async () => {
  const member = await memberOf(service, 'runner');
  const executing = await personalKey(service, member, 'execute');
  const reader = await readEvents({ origin: second.origin, key: executing }, '/executions', {
    method: 'POST',
    body: { prompt_name: 'say' },
  });
  open.push(reader);
  expect(reader.status).toBe(201);
  const reading = await openStreams(member);
  await patch(member.id, { role: 'viewer' });
  await expectEndWithin5s([reader]);
  const going = await Promise.race([
    Promise.any(reading.map(({ ended }) => ended)),
    new Promise((resolve) => setTimeout(() => resolve('open'), 4_000)),
  ]);
  expect(going).toBe('open');
});

describe('a removal', () => {
  test('applies at once everywhere, and revokes the personal keys for good', async () => {
    const member = await memberOf(service, 'runner');
    const readers = await openStreams(member);
    expect((await service.call('DELETE', `/members/${member.id}`)).body.status).toBe('removed');
    await expectEndWithin5s(readers);
    expect((await elsewhere('GET', '/me', member.key)).status).toBe(401);
    const keys = (await service.call('GET', '/api-keys?limit=1000')).body.data;
    expect(keys.find(({ id }: { id: string }) => id === member.keyId).revoked_at).toEqual(expect.any(String));
    // Again: nothing changes, and nothing is recorded twice.
    expect((await service.call('DELETE', `/members/${member.id}`)).status).toBe(200);
    expect(await actionsOf(member.id)).toEqual([['member.removed', { name: 'Ada Lovelace' }]]);
    const { status, body } = await patch(member.id, { role: 'admin' });
    expect([status, body.error.code]).toEqual([400, 'invalid_state']);
  });
});

test('versions name their author, whichever key', async () => {
  const member = await memberOf(service, 'editor', { name: 'Grace Hopper' });
  const made = { name: 'by/grace', template: 'It.', model: 'sandbox/echo' };
  const created = await service.call('POST', '/prompts', { key: null, headers: member.session, body: made });
  expect(created.body.created_by).toMatchObject({ member_id: member.id, name: 'Grace Hopper' });
  const change = { template: 'It is.' };
  const changed = await service.call('PUT', '/prompts/by/grace', { key: member.key, body: change });
  expect(changed.body.created_by).toMatchObject({ member_id: member.id, key_id: member.keyId });
  const { body } = await service.call('GET', '/prompts/by/grace/versions');
  expect(body.data.map(({ created_by }: { created_by: object }) => created_by)).toEqual([
    changed.body.created_by,
    created.body.created_by,
  ]);
});

test('all that was made from a personal key ends with it', async () => {
  const member = await memberOf(service, 'editor');
  const made = await personalKey(service, member, 'read', 'write');
  const further = await personalKey(service, { ...member, key: made }, 'read');
  expect((await service.call('GET', '/me', { key: further })).status).toBe(200);
  expect((await service.call('DELETE', `/me/api-keys/${member.keyId}`, by(member.session))).status).toBe(200);
  for (const key of [member.key, made, further]) expect((await elsewhere('GET', '/me', key)).status).toBe(401);
});

describe('the last admin', () => {
  test('of a workspace without an admin key stays, even if two remove each other', async () => {
    const other = await createOtherWorkspace(service, 'lone');
    const grant = [{ workspace: 'lone', role: 'admin' }] as const;
    const [one, two] = [await signIn(service, [...grant]), await signIn(service, [...grant])];
    const [keys] = [(await other.call('GET', '/api-keys')).body.data];
    for (const { id, kind } of keys) if (kind === 'service') await other.call('DELETE', `/api-keys/${id}`);
    const answers = await Promise.all([
      patch(one.id, { role: 'viewer' }, two.key),
      service.call('DELETE', `/members/${two.id}`, { key: one.key }),
    ]);
    // One of them was first; the other is no longer an admin, or gets a reason.
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    const left = answers[0]?.status === 200 ? two : one;
    for (const change of [{ role: 'viewer' }, { status: 'suspended' }]) {
      const { status, body } = await patch(left.id, change, left.key);
      expect([status, body.error.code, body.error.message]).toEqual([
        400,
        'invalid_state',
        expect.stringContaining('last admin'),
      ]);
    }
    expect((await service.call('DELETE', `/members/${left.id}`, { key: left.key })).status).toBe(400);
    expect((await service.call('GET', '/me', { key: left.key })).body.role).toBe('admin');
    // With an admin key of the workspace it is allowed.
    await service.call('POST', '/api-keys', { key: left.key, body: { name: 'spare', scopes: ['admin'] } });
    expect((await patch(left.id, { role: 'viewer' }, left.key)).body.role).toBe('viewer');
  });
});

describe('GET /me', () => {
  test('shows the caller and other workspaces, and no member for a key of the workspace', async () => {
    await createOtherWorkspace(service, 'research');
    const member = await signIn(service, [
      { workspace: 'default', role: 'editor' },
      { workspace: 'research', role: 'viewer' },
      { workspace: 'not there', role: 'admin' },
    ]);
    const narrow = await personalKey(service, member, 'read', 'execute');
    const { body } = await service.call('GET', '/me', { key: narrow });
    expect(body).toMatchObject({
      key: { kind: 'personal', name: 'read execute' },
      scopes: ['read', 'execute'],
      member: { id: member.id, name: 'Ada Lovelace' },
      role: 'editor',
      workspace: { name: 'default' },
    });
    expect(body.workspaces).toEqual([
      { name: 'default', member_id: member.id, role: 'editor' },
      { name: 'research', member_id: expect.stringMatching(/^mem_/), role: 'viewer' },
    ]);
    // Even if a member created it, it belongs to the workspace.
    const admin = await memberOf(service, 'admin');
    const made = await service.call('POST', '/api-keys', { key: admin.key, body: { name: 'ci', scopes: ['score'] } });
    expect((await service.call('GET', '/me', { key: made.body.key })).body).toEqual({
      key: { id: made.body.id, name: 'ci', kind: 'service' },
      scopes: ['score'],
      member: null,
      role: null,
      workspace: { name: 'default' },
      workspaces: [],
    });
  });
});

describe('personal keys', () => {
  const make = (key: string, body: object, headers: Record<string, string> = {}) =>
    service.call('POST', '/me/api-keys', { key, body: { name: 'mine', scopes: ['read'], ...body }, headers });

  test('are made by members, shown once, and revoked by them and by admins', async () => {
    const [member, neighbour] = [await memberOf(service, 'editor'), await memberOf(service, 'editor')];
    const { status, body } = await service.call('POST', '/me/api-keys', {
      ...by(member.session),
      body: { name: 'laptop', scopes: ['read', 'write'] },
    });
    expect([status, body.kind, body.member_id]).toEqual([201, 'personal', member.id]);
    const { key, ...record } = body;
    const list = await service.call('GET', '/me/api-keys?limit=1', by(member.session));
    expect(list.body.data).toEqual([record]);
    expect(
      (await service.call('GET', '/me/api-keys', { key: neighbour.key })).body.data.map(({ id }: { id: string }) => id),
    ).toEqual([neighbour.keyId]);
    expect((await service.call('DELETE', `/me/api-keys/${record.id}`, { key: neighbour.key })).status).toBe(404);
    // A key of the workspace does not belong to a member.
    const { id: serviceKey } = await createKey(service, 'read');
    expect((await service.call('DELETE', `/me/api-keys/${serviceKey}`, { key })).status).toBe(404);
    expect((await service.call('DELETE', `/me/api-keys/${record.id}`, { key })).body.revoked_at).toEqual(
      expect.any(String),
    );
    expect((await elsewhere('GET', '/me', key)).status).toBe(401);
    const again = (await make(member.key, {})).body;
    expect((await service.call('GET', '/api-keys?limit=1')).body.data[0]).toMatchObject({
      id: again.id,
      kind: 'personal',
    });
    expect((await service.call('DELETE', `/api-keys/${again.id}`)).status).toBe(200);
    expect((await service.call('GET', '/me', { key: again.key })).status).toBe(401);
  });

  test('never exceed what they are made with', async () => {
    const member = await memberOf(service, 'editor');
    const refused = async (key: string, body: object) => {
      const { status, body: answer } = await make(key, body);
      expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
      return answer.error.message;
    };
    expect(await refused(member.key, { scopes: ['read', 'publish'] })).toContain('publish');
    await refused(member.key, { scopes: ['admin'] });
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const narrow = (await make(member.key, { scopes: ['read', 'execute'], expires_at: soon })).body.key;
    await refused(narrow, { scopes: ['write'] });
    await refused(narrow, { expires_at: null });
    await refused(narrow, { expires_at: new Date(Date.now() + 7_200_000).toISOString() });
    expect((await make(narrow, {})).body).toMatchObject({ expires_at: soon, scopes: ['read'] });
  });

  test('exclude keys of the workspace', async () => {
    for (const [method, path] of [
      ['GET', '/me/api-keys'],
      ['POST', '/me/api-keys'],
      ['DELETE', '/me/api-keys/key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11'],
    ] as const) {
      const body = method === 'POST' ? { body: { name: 'x', scopes: ['read'] } } : {};
      const { status, body: answer } = await service.call(method, path, body);
      expect([method, status, answer.error.code]).toEqual([method, 400, 'invalid_request']);
      expect(answer.error.message).toContain('belongs to the workspace');
    }
  });

  test('are made once for each Idempotency-Key, and shown again only to their maker', async () => {
    const member = await memberOf(service, 'editor');
    const headers = { 'Idempotency-Key': 'mine' };
    const [first, repeated] = [await make(member.key, {}, headers), await make(member.key, {}, headers)];
    expect(repeated.body).toEqual(first.body);
    expect((await make(first.body.key, {}, headers)).body.error.code).toBe('idempotency_key_reused');
  });

  test('are limited to 20, even at the same time', async () => {
    const member = await memberOf(service, 'editor');
    const answers = await Promise.all(Array.from({ length: 30 }, () => make(member.key, {})));
    const codes = answers.map(({ status, body }) => body.error?.code ?? status);
    // One there was before.
    expect([
      codes.filter((code) => code === 201).length,
      codes.filter((code) => code === 'quota_exceeded').length,
    ]).toEqual([19, 11]);
    const made = answers.find(({ status }) => status === 201)?.body.id;
    await service.call('DELETE', `/me/api-keys/${made}`, { key: member.key });
    expect((await make(member.key, {})).status).toBe(201);
  });

  test('count for the quota of the workspace', async () => {
    const { db } = service.dependencies;
    const member = await memberOf(service, 'editor');
    const [row] = await db.system.query<{ count: number }>(
      {
        text: `select count(*)::int as count from api_keys where workspace_id = $1 and kind <> 'sign_in' and revoked_at is null
               and (expires_at is null or expires_at > now())`,
      },
      [member.workspaceId],
    );
    const left = 200 - (row?.count ?? 0);
    await db.system.query(
      {
        text: `insert into api_keys (workspace_id, id, name, hash, scopes, created_at)
               select $1, gen_random_uuid(), 'full', decode(md5(random()::text), 'hex'), '{read}', now() from generate_series(1, $2)`,
      },
      [member.workspaceId, left],
    );
    const { body } = await make(member.key, {});
    expect([body.error.code, body.error.message]).toEqual(['quota_exceeded', expect.stringContaining('API keys')]);
    await db.system.query({ text: `delete from api_keys where name = 'full'` });
  });
});

test('actions of members are in the audit log, whatever the key', async () => {
  const member = await memberOf(service, 'editor');
  const narrow = await personalKey(service, member, 'write');
  const create = (name: string, credential: object) =>
    service.call('POST', '/prompts', { body: { name, template: 'It.', model: 'sandbox/echo' }, ...credential });
  await create('by/session', by(member.session));
  await create('by/key', { key: narrow });
  const { body } = await service.call('GET', `/audit-log?actor=${member.id}&action=prompt.created`);
  expect(
    body.data.map(
      ({
        actor,
        resource,
      }: {
        actor: { type: string; member_id: string; key_name: string };
        resource: { id: string };
      }) => [resource.id, actor.type, actor.member_id, actor.key_name],
    ),
  ).toEqual([
    ['by/key', 'api_key', member.id, 'write'],
    ['by/session', 'session', member.id, 'Ada Lovelace'],
  ]);
});
