import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type EventReader, readEvents } from '../../support/event-stream.ts';
import { grantAccess, personalKey, signIn, startSecondApi } from '../../support/members.ts';
import { createCall, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { createScim, ISSUER, oktaUser, PROVISIONED, patchOf, SCIM_TOKEN, type Scim } from './scim.ts';

let service: TestService;
let second: Awaited<ReturnType<typeof startSecondApi>>;
let scim: Scim;
beforeAll(async () => {
  service = await startTestService(PROVISIONED, { workers: false });
  second = await startSecondApi(service);
  scim = createScim(service);
  await createOtherWorkspace(service, 'research');
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'It.', model: 'sandbox/echo' } });
});
afterAll(async () => {
  await second?.close();
  await service?.stop();
});

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const filterOf = (filter: string) => `?filter=${encodeURIComponent(filter)}`;

async function provision(name: string, more: object = {}): Promise<string> {
  const { status, body } = await scim('POST', '/Users', { body: oktaUser(name, more) });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

let groups = 0;
/** A separate group without a role for its name, with these people. */
async function group(displayName: string, ...ids: string[]): Promise<string> {
  const { body } = await scim('POST', '/Groups', {
    body: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName,
      members: ids.map((value) => ({ value })),
    },
  });
  if (body.id === undefined) throw new Error(JSON.stringify(body));
  return body.id;
}
const anyGroup = (...ids: string[]) => {
  groups += 1;
  return group(`group ${groups}`, ...ids);
};

/** Groups with a role, each once. */
let mapped: Record<'engineers' | 'leads' | 'readers', string>;
beforeAll(async () => {
  mapped = { engineers: await group('engineers'), leads: await group('leads'), readers: await group('readers') };
});
const join = (name: keyof typeof mapped, ...ids: string[]) =>
  scim('PATCH', `/Groups/${mapped[name]}`, {
    body: patchOf({ op: 'add', path: 'members', value: ids.map((value) => ({ value })) }),
  });
const leave = (name: keyof typeof mapped, id: string) =>
  scim('PATCH', `/Groups/${mapped[name]}`, { body: patchOf({ op: 'remove', path: `members[value eq "${id}"]` }) });

/** The memberships of a person by workspace: role and status. */
async function membershipsOf(userId: string): Promise<Record<string, string>> {
  const rows = await service.dependencies.db.system.query<{ workspace: string; state: string }>(
    {
      text: `select w.name as workspace, m.role || ' ' || m.status as state from members m
             join workspaces w on w.id = m.workspace_id where m.user_id = $1`,
    },
    [userId.slice(4)],
  );
  return Object.fromEntries(rows.map(({ workspace, state }) => [workspace, state]));
}

describe('the token', () => {
  test.each([
    ['no token', ''],
    ['another token', `${SCIM_TOKEN}x`],
    ['part of the token', SCIM_TOKEN.slice(0, -1)],
  ])('%s is refused, as the standard says', async (_, token) => {
    const answer = await scim('GET', '/Users', { token });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(answer.headers.get('Content-Type')).toBe('application/scim+json; charset=utf-8');
    expect(answer.body).toEqual({ schemas: [ERROR], status: '401', detail: expect.any(String) });
  });

  test('is no key, nor is a key the token', async () => {
    expect((await service.call('GET', '/prompts', { key: SCIM_TOKEN })).status).toBe(401);
    expect((await scim('GET', '/Users', { token: service.key })).status).toBe(401);
  });

  test('is limited by address when guessed, with other failures, and the right one still passes', async () => {
    const limited = await startSecondApi(service, { rateLimitPerMinute: 1_200 });
    try {
      const guess = createScim(limited);
      const statuses: number[] = [];
      for (let tries = 0; tries < 70; tries += 1)
        statuses.push((await guess('GET', '/Users', { token: `guess${tries}` })).status);
      expect([statuses[0], statuses.at(-1), new Set(statuses).size]).toEqual([401, 429, 2]);
      const last = await guess('GET', '/Users', { token: 'guess' });
      expect([Number(last.headers.get('Retry-After')) > 0, last.body.schemas]).toEqual([true, [ERROR]]);
      expect((await guess('GET', '/Users')).status).toBe(200);
      expect((await createCall(limited.origin, 'pms_guessed')('GET', '/prompts')).status).toBe(429);
    } finally {
      await limited.close();
    }
  });

  test('without one, there are no routes', async () => {
    const { signIn: given } = service.dependencies.settings;
    const without = await startSecondApi(service, { signIn: { ...given, scimToken: undefined } });
    try {
      for (const path of ['/Users', '/ServiceProviderConfig', '/Nothing'])
        expect([path, (await createScim(without)('GET', path)).status]).toEqual([path, 404]);
    } finally {
      await without.close();
    }
  });
});

describe('discovery', () => {
  test('says what is supported', async () => {
    const config = await scim('GET', '/ServiceProviderConfig');
    expect(config.body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 200 },
      authenticationSchemes: [{ type: 'oauthbearertoken' }],
    });
    const types = await scim('GET', '/ResourceTypes');
    expect(types.body.Resources.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(['/Users', '/Groups']);
    const schemas = await scim('GET', '/Schemas');
    const [user] = schemas.body.Resources;
    expect([schemas.body.schemas, schemas.body.totalResults]).toEqual([[LIST], 2]);
    expect((await scim('GET', `/Schemas/${user.id}`)).body).toEqual(user);
    expect((await scim('GET', '/ResourceTypes/Group')).body.schema).toBe('urn:ietf:params:scim:schemas:core:2.0:Group');
    for (const path of ['/Schemas/urn:none', '/ServiceProviderConfig/x', '/Bulk', '', '/Users/a/b'])
      expect([path, (await scim('GET', path)).status]).toEqual([path, 404]);
  });
});

describe('Okta', () => {
  test('tests the connection, provisions, changes, pushes groups, deactivates and activates', async () => {
    // The connection test, and the check whether the user exists.
    expect((await scim('GET', '/Users?startIndex=1&count=2')).body.schemas).toEqual([LIST]);
    const search = () => scim('GET', `/Users${filterOf('userName eq "okta@example.com"')}&startIndex=1&count=100`);
    expect((await search()).body).toMatchObject({ totalResults: 0, itemsPerPage: 0, Resources: [] });
    const created = await scim('POST', '/Users', { body: oktaUser('okta') });
    expect([created.status, created.headers.get('Location')]).toEqual([
      201,
      `https://pms.example.com/scim/v2/Users/${created.body.id}`,
    ]);
    expect(created.body).toMatchObject({
      id: expect.stringMatching(/^usr_/),
      externalId: '00u-okta',
      userName: 'okta@example.com',
      name: { givenName: 'okta', familyName: 'Okta' },
      emails: [{ primary: true, value: 'okta@example.com', type: 'work' }],
      active: true,
      groups: [],
      meta: { resourceType: 'User' },
    });
    expect(created.body).not.toHaveProperty('locale');
    expect((await search()).body.Resources).toEqual([created.body]);
    const { id } = created.body;
    // A change of the profile is a PUT of all of it.
    const put = await scim('PUT', `/Users/${id}`, { body: oktaUser('okta', { id, displayName: 'Renamed Okta' }) });
    expect([put.status, put.body.displayName]).toEqual([200, 'Renamed Okta']);
    // Group push: the group, then its members, then its name.
    const pushed = await scim('POST', '/Groups', {
      body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'okta pushed', members: [] },
    });
    expect(pushed.status).toBe(201);
    const change = (...operations: object[]) =>
      scim('PATCH', `/Groups/${pushed.body.id}`, { body: patchOf(...operations) });
    expect(
      (await change({ op: 'add', path: 'members', value: [{ value: id, display: 'okta@example.com' }] })).status,
    ).toBe(204);
    expect((await scim('GET', `/Groups/${pushed.body.id}`)).body.members).toEqual([
      { value: id, display: 'Renamed Okta' },
    ]);
    expect((await change({ op: 'replace', value: { id: pushed.body.id, displayName: 'okta renamed' } })).status).toBe(
      204,
    );
    expect((await scim('GET', `/Users/${id}`)).body.groups).toEqual([
      { value: pushed.body.id, display: 'okta renamed', $ref: expect.stringContaining(pushed.body.id) },
    ]);
    expect((await change({ op: 'remove', path: `members[value eq "${id}"]` })).status).toBe(204);
    expect((await change({ op: 'replace', path: 'members', value: [{ value: id }] })).status).toBe(204);
    expect((await scim('GET', `/Groups/${pushed.body.id}`)).body.members.length).toBe(1);
    // Unassigned, and assigned again.
    const off = await scim('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', value: { active: false } }) });
    expect([off.status, off.body.active]).toEqual([200, false]);
    const on = await scim('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', value: { active: true } }) });
    expect(on.body).toMatchObject({ active: true, groups: [{ display: 'okta renamed' }] });
    expect((await scim('DELETE', `/Groups/${pushed.body.id}`)).status).toBe(204);
    expect((await scim('GET', `/Groups/${pushed.body.id}`)).status).toBe(404);
  });
});

describe('Microsoft Entra ID', () => {
  /** As it sends a new user. */
  const ENTRA = {
    schemas: [
      'urn:ietf:params:scim:schemas:core:2.0:User',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
    ],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: 'entra@example.com',
    active: true,
    emails: [{ primary: true, type: 'work', value: 'entra@example.com' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'Entra User', familyName: 'User', givenName: 'Entra' },
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales' },
    roles: [],
  };

  test('tests the connection, provisions, changes and disables, with its own syntax', async () => {
    const probe = await scim('GET', `/Users${filterOf('userName eq "non-existent-3f8e"')}`);
    expect([probe.status, probe.body.totalResults, probe.body.Resources]).toEqual([200, 0, []]);
    const { status, body } = await scim('POST', '/Users', { body: ENTRA, type: 'application/scim+json' });
    expect([status, body.displayName]).toEqual([201, 'Entra User']);
    const change = async (...operations: object[]) =>
      (await scim('PATCH', `/Users/${body.id}`, { body: patchOf(...operations) })).body;
    const changed = await change(
      { op: 'Add', path: 'nickName', value: 'E' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'new@example.com' },
      { op: 'Replace', path: 'name.familyName', value: 'Changed' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Support' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
    );
    expect(changed).toMatchObject({
      name: { formatted: 'Entra User', familyName: 'Changed', givenName: 'Entra' },
      emails: [{ primary: true, type: 'work', value: 'new@example.com' }],
    });
    expect(await change({ op: 'Add', value: { 'name.givenName': 'Other', displayName: 'Other Name' } })).toMatchObject({
      displayName: 'Other Name',
      name: { givenName: 'Other', familyName: 'Changed' },
    });
    expect(
      (await change({ op: 'Add', path: 'emails[type eq "home"].value', value: 'home@example.com' })).emails.length,
    ).toBe(2);
    // A boolean arrives as a string, unless a flag in the address says otherwise.
    expect((await change({ op: 'Replace', path: 'active', value: 'False' })).active).toBe(false);
    expect((await change({ op: 'replace', path: 'active', value: 'True' })).active).toBe(true);
    expect((await change({ op: 'Remove', path: 'displayName' })).displayName).toBe('Entra User');
    const byId = await scim('GET', `/Users${filterOf(`externalId eq "${ENTRA.externalId}"`)}`);
    expect(byId.body.Resources.map(({ id }: { id: string }) => id)).toEqual([body.id]);
    const byMail = await scim('GET', `/Users${filterOf('emails[type eq "work"].value eq "NEW@example.com"')}`);
    expect(byMail.body.totalResults).toBe(1);
    // Groups: found without members, members added and removed by lists.
    const made = await scim('POST', '/Groups', {
      body: {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
        externalId: '8aa1a0c0',
        displayName: 'entra group',
        members: [],
      },
    });
    const change2 = (...operations: object[]) =>
      scim('PATCH', `/Groups/${made.body.id}`, { body: patchOf(...operations) });
    await change2({ op: 'Add', path: 'members', value: [{ $ref: null, value: body.id }] });
    const found = await scim(
      'GET',
      `/Groups?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "Entra Group"')}`,
    );
    expect(found.body.Resources).toEqual([expect.not.objectContaining({ members: expect.anything() })]);
    expect((await scim('GET', `/Groups/${made.body.id}?excludedAttributes=members`)).body).not.toHaveProperty(
      'members',
    );
    const holds = () => scim('GET', `/Groups${filterOf(`id eq "${made.body.id}" and members eq "${body.id}"`)}`);
    expect((await holds()).body.totalResults).toBe(1);
    await change2({ op: 'Remove', path: 'members', value: [{ $ref: null, value: body.id }] });
    expect((await holds()).body.totalResults).toBe(0);
    await change2({ op: 'Replace', path: 'displayName', value: 'entra renamed' });
    expect((await scim('GET', `/Groups/${made.body.id}`)).body).toMatchObject({
      displayName: 'entra renamed',
      externalId: '8aa1a0c0',
      members: [],
    });
    // Deleted permanently after 30 days.
    expect((await scim('DELETE', `/Users/${body.id}`)).status).toBe(204);
    expect((await scim('GET', `/Users/${body.id}`)).status).toBe(404);
    expect((await scim('DELETE', `/Users/${body.id}`)).status).toBe(404);
  });
});

describe('memberships', () => {
  test('follow groups, in every workspace, as provisioned, and are in the audit log', async () => {
    const id = await provision('follows');
    expect(await membershipsOf(id)).toEqual({});
    await join('readers', id);
    expect(await membershipsOf(id)).toEqual({ default: 'viewer active' });
    await join('leads', id);
    expect(await membershipsOf(id)).toEqual({ default: 'admin active', research: 'viewer active' });
    await leave('leads', id);
    expect(await membershipsOf(id)).toEqual({ default: 'viewer active', research: 'viewer removed' });
    await leave('readers', id);
    expect(await membershipsOf(id)).toEqual({ default: 'viewer removed', research: 'viewer removed' });
    const { body } = await service.call('GET', '/audit-log?actor=provisioning&limit=20');
    const entries = body.data.filter(
      ({ details }: { details: { name?: string } }) => details.name === 'follows Okta' || details.name === undefined,
    );
    expect(
      entries
        .map(({ action, actor }: { action: string; actor: { type: string; key_id: null } }) => [
          action,
          actor.type,
          actor.key_id,
        ])
        .slice(0, 4),
    ).toEqual([
      ['member.removed', 'provisioning', null],
      ['member.role_changed', 'provisioning', null],
      ['member.role_changed', 'provisioning', null],
      ['member.joined', 'provisioning', null],
    ]);
    const operators = await service.call('GET', '/audit-log?actor=operator&limit=100');
    expect(operators.body.data.filter(({ action }: { action: string }) => action.startsWith('member.'))).toEqual([]);
  });

  test('follow a renamed or deleted group', async () => {
    const id = await provision('renamed');
    const own = await anyGroup(id);
    expect(await membershipsOf(id)).toEqual({});
    await scim('DELETE', `/Groups/${mapped.readers}`);
    await scim('PATCH', `/Groups/${own}`, { body: patchOf({ op: 'replace', path: 'displayName', value: 'readers' }) });
    expect(await membershipsOf(id)).toEqual({ default: 'viewer active' });
    await scim('DELETE', `/Groups/${own}`);
    expect(await membershipsOf(id)).toEqual({ default: 'viewer removed' });
    mapped.readers = await group('readers');
  });

  test('a known person stays the same by externalId, and keeps the claims', async () => {
    const member = await signIn(service, [{ workspace: 'default', role: 'viewer' }], {
      issuer: ISSUER,
      subject: '00u-known',
    });
    const id = await provision('known');
    expect(id).toBe(member.userId);
    await join('engineers', id);
    expect((await service.call('GET', '/me', { key: member.key })).body).toMatchObject({
      role: 'editor',
      member: { id: member.id, name: 'known Okta' },
    });
    await leave('engineers', id);
    expect((await service.call('GET', '/me', { key: member.key })).body.role).toBe('viewer');
    // A person of another provider with the same subject is someone else.
    const other = await signIn(service, [{ workspace: 'default', role: 'viewer' }], {
      issuer: 'https://other.example.com',
      subject: '00u-other',
    });
    expect(await provision('other')).not.toBe(other.userId);
  });

  test('settings by an admin stay: a role, and a suspension', async () => {
    const id = await provision('set');
    await join('readers', id);
    const [{ id: memberId }] = (await service.call('GET', '/members?search=set%20Okta')).body.data;
    await service.call('PATCH', `/members/${memberId}`, { body: { role: 'publisher' } });
    await join('engineers', id);
    expect(await membershipsOf(id)).toEqual({ default: 'publisher active' });
    await service.call('PATCH', `/members/${memberId}`, { body: { status: 'suspended' } });
    await scim('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'displayName', value: 'Set Anew' }) });
    expect(await membershipsOf(id)).toEqual({ default: 'publisher suspended' });
    expect((await service.call('GET', `/members/${memberId}`)).body.name).toBe('Set Anew');
    // Even over a time without any role, in which no one can end the suspension.
    await leave('readers', id);
    await leave('engineers', id);
    const back = { body: { status: 'active' } };
    expect((await service.call('PATCH', `/members/${memberId}`, back)).body.error.code).toBe('invalid_state');
    await join('engineers', id);
    expect(await membershipsOf(id)).toEqual({ default: 'publisher suspended' });
    await service.call('PATCH', `/members/${memberId}`, back);
    expect(await membershipsOf(id)).toEqual({ default: 'publisher active' });
    await service.call('PATCH', `/members/${memberId}`, { body: { role: 'viewer' } });
    await service.call('PATCH', `/members/${memberId}`, { body: { role: null } });
    expect(await membershipsOf(id)).toEqual({ default: 'editor active' });
  });
});

describe('a leaver', () => {
  const LEAVING: [string, (id: string) => Promise<unknown>][] = [
    [
      'by active: false',
      (id) => scim('PATCH', `/Users/${id}`, { body: patchOf({ op: 'Replace', path: 'active', value: 'False' }) }),
    ],
    ['by a PUT', (id) => scim('PUT', `/Users/${id}`, { body: oktaUser(`leaver-${id.slice(-6)}`, { active: false }) })],
    ['by DELETE', (id) => scim('DELETE', `/Users/${id}`)],
    ['with the group', (id) => leave('engineers', id)],
    [
      'when the group has others',
      () =>
        scim('PATCH', `/Groups/${mapped.engineers}`, { body: patchOf({ op: 'replace', path: 'members', value: [] }) }),
    ],
  ];

  test.each(LEAVING)('%s is out within 5 s everywhere: session, personal keys, open streams', async (way, leaveBy) => {
    const subject = `00u-${way}`;
    const name = `leaver ${way}`;
    const id = await provision(name, { externalId: subject });
    await join('engineers', id);
    // The sign-in finds the provisioned person; here it gets a key and a session as from a sign-in.
    const member = await sessionsOf(id);
    const reader = await openStream(second.origin, member.key);
    expect((await createCall(second.origin, member.key)('GET', '/me')).status).toBe(200);
    expect((await service.call('GET', '/me', { key: null, headers: member.session })).status).toBe(200);
    const started = Date.now();
    await leaveBy(id);
    for (const origin of [service.origin, second.origin])
      for (const options of [{ key: member.key }, { key: null, headers: member.session }])
        await waitFor(
          'the end of access',
          async () => (await createCall(origin, '')('GET', '/me', options)).status === 401,
        );
    expect(await reader.ended).toBe('cut');
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(await membershipsOf(id)).toEqual({ default: 'editor removed' });
  });

  async function sessionsOf(userId: string) {
    const { db } = service.dependencies;
    const [row] = await db.system.query<{ id: string; workspace_id: string; name: string }>(
      { text: 'select id, workspace_id, name from members where user_id = $1' },
      [userId.slice(4)],
    );
    if (row === undefined) throw new Error('There is no member.');
    return grantAccess(service, row);
  }

  async function openStream(origin: string, key: string): Promise<EventReader> {
    const { body } = await service.call('POST', '/executions', {
      body: { prompt_name: 'say' },
      headers: { Prefer: 'respond-async' },
    });
    const reader = await readEvents({ origin, key }, `/executions/${body.id}/stream`);
    expect(reader.status).toBe(200);
    return reader;
  }

  test('and returns as a member, without any earlier key', async () => {
    const id = await provision('returns');
    await join('engineers', id);
    await scim('DELETE', `/Users/${id}`);
    expect(await membershipsOf(id)).toEqual({ default: 'editor removed' });
    // The name is free in provisioning, so it can be created again; it is the same person.
    expect((await scim('GET', `/Users${filterOf('userName eq "returns@example.com"')}`)).body.totalResults).toBe(0);
    expect(await provision('returns')).toBe(id);
    expect((await scim('GET', `/Users/${id}`)).body.groups).toEqual([]);
    await join('engineers', id);
    expect(await membershipsOf(id)).toEqual({ default: 'editor active' });
  });

  test('stays out whatever the claims gave, as long as the provisioning says so', async () => {
    const member = await signIn(service, [{ workspace: 'default', role: 'admin' }], {
      issuer: ISSUER,
      subject: '00u-claims',
    });
    const narrow = await personalKey(service, member, 'read');
    const id = await provision('claims', { active: false });
    expect(id).toBe(member.userId);
    expect((await service.call('GET', '/me', { key: narrow })).status).toBe(401);
    // A PUT without `active` does not reactivate the person.
    const { active: _, ...without } = oktaUser('claims');
    expect((await scim('PUT', `/Users/${id}`, { body: without })).body.active).toBe(false);
  });
});

describe('invalid input', () => {
  const MISSING_USER = 'usr_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11';
  const MISSING_GROUP = 'grp_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11';
  let user: string;
  let someGroup: string;
  beforeAll(async () => {
    user = await provision('nonsense');
    someGroup = await anyGroup();
  });

  test.each<[string, number, string | undefined, () => Promise<{ status: number; body: unknown }>]>([
    ['a user that is there', 409, 'uniqueness', () => scim('POST', '/Users', { body: oktaUser('nonsense') })],
    [
      'a userName in another case',
      409,
      'uniqueness',
      () => scim('POST', '/Users', { body: oktaUser('x', { userName: 'NONSENSE@example.com' }) }),
    ],
    [
      'an externalId that is there',
      409,
      'uniqueness',
      () => scim('POST', '/Users', { body: oktaUser('y', { externalId: '00u-nonsense' }) }),
    ],
    ['no userName', 400, 'invalidValue', () => scim('POST', '/Users', { body: { externalId: 'x' } })],
    ['a userName that is a number', 400, 'invalidValue', () => scim('POST', '/Users', { body: { userName: 5 } })],
    [
      'a userName that is too long',
      400,
      'invalidValue',
      () => scim('POST', '/Users', { body: { userName: 'x'.repeat(256) } }),
    ],
    ['a userName with NUL', 400, 'invalidSyntax', () => scim('POST', '/Users', { body: { userName: 'a\u0000b' } })],
    [
      'an invalid active',
      400,
      'invalidValue',
      () => scim('PATCH', `/Users/${user}`, { body: patchOf({ op: 'replace', path: 'active', value: 'maybe' }) }),
    ],
    [
      'an active that is taken away',
      400,
      'invalidValue',
      () => scim('PATCH', `/Users/${user}`, { body: patchOf({ op: 'remove', path: 'active' }) }),
    ],
    [
      'a userName that is taken away',
      400,
      'invalidValue',
      () => scim('PATCH', `/Users/${user}`, { body: patchOf({ op: 'remove', path: 'userName' }) }),
    ],
    [
      'emails that are none',
      400,
      'invalidValue',
      () => scim('PATCH', `/Users/${user}`, { body: patchOf({ op: 'add', path: 'emails', value: [5] }) }),
    ],
    [
      'too many emails',
      400,
      'invalidValue',
      () =>
        scim('PATCH', `/Users/${user}`, {
          body: patchOf({
            op: 'add',
            path: 'emails',
            value: Array.from({ length: 21 }, (_, at) => ({ value: `${at}` })),
          }),
        }),
    ],
    [
      'an unknown op',
      400,
      'invalidSyntax',
      () => scim('PATCH', `/Users/${user}`, { body: patchOf({ op: 'move', path: 'active', value: true }) }),
    ],
    ['no operations', 400, 'invalidSyntax', () => scim('PATCH', `/Users/${user}`, { body: patchOf() })],
    [
      'a remove without a path',
      400,
      'noTarget',
      () => scim('PATCH', `/Users/${user}`, { body: patchOf({ op: 'remove' }) }),
    ],
    [
      'an invalid path',
      400,
      'invalidPath',
      () => scim('PATCH', `/Users/${user}`, { body: patchOf({ op: 'add', path: 'a b[', value: 1 }) }),
    ],
    ['a list as a body', 400, 'invalidSyntax', () => scim('POST', '/Users', { body: [] })],
    ['no JSON', 400, 'invalidSyntax', () => scim('POST', '/Users', { raw: '{' })],
    [
      'a form',
      400,
      'invalidSyntax',
      () => scim('POST', '/Users', { raw: 'a=b', type: 'application/x-www-form-urlencoded' }),
    ],
    [
      'a body of more than 1 MiB',
      413,
      undefined,
      () => scim('POST', '/Users', { raw: `{"userName":"${'x'.repeat(1_100_000)}"}` }),
    ],
    ['a filter with another operator', 400, 'invalidFilter', () => scim('GET', `/Users${filterOf('userName co "x"')}`)],
    ['a filter by something else', 400, 'invalidFilter', () => scim('GET', `/Users${filterOf('title eq "x"')}`)],
    ['an invalid filter', 400, 'invalidFilter', () => scim('GET', `/Users${filterOf(`${'('.repeat(500)}`)}`)],
    ['a filter of SQL', 400, 'invalidFilter', () => scim('GET', `/Users${filterOf("userName eq 'x' or 1=1 --")}`)],
    ['an invalid count', 400, 'invalidValue', () => scim('GET', '/Users?count=many')],
    ['a user that is not there', 404, undefined, () => scim('PUT', `/Users/${MISSING_USER}`, { body: oktaUser('z') })],
    ['a user without an id', 404, undefined, () => scim('GET', "/Users/' or 1=1")],
    [
      'a group that is not there',
      404,
      undefined,
      () => scim('PATCH', `/Groups/${MISSING_GROUP}`, { body: patchOf({ op: 'add', path: 'members', value: [] }) }),
    ],
    ['a group without a name', 400, 'invalidValue', () => scim('POST', '/Groups', { body: { members: [] } })],
    [
      'a group whose name there is',
      409,
      'uniqueness',
      () => scim('POST', '/Groups', { body: { displayName: 'engineers' } }),
    ],
    [
      'a member that is not there',
      400,
      'invalidValue',
      () =>
        scim('PATCH', `/Groups/${someGroup}`, {
          body: patchOf({ op: 'add', path: 'members', value: [{ value: MISSING_USER }] }),
        }),
    ],
    [
      'a member that is a group',
      400,
      'invalidValue',
      () =>
        scim('PATCH', `/Groups/${someGroup}`, {
          body: patchOf({ op: 'add', path: 'members', value: [{ value: someGroup }] }),
        }),
    ],
    [
      'a method that there is not',
      404,
      undefined,
      () => scim('POST', `/Users/${user}`, { body: oktaUser('nonsense') }),
    ],
  ])('%s is refused with %i %s, and changes nothing', async (_, status, scimType, call) => {
    const before = [await scim('GET', `/Users/${user}`), await scim('GET', `/Groups/${someGroup}`)].map(
      ({ body }) => body,
    );
    const answer = await call();
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      schemas: [ERROR],
      status: String(status),
      detail: expect.any(String),
      ...(scimType !== undefined && { scimType }),
    });
    expect(
      [await scim('GET', `/Users/${user}`), await scim('GET', `/Groups/${someGroup}`)].map(({ body }) => body),
    ).toEqual(before);
  });

  test('the externalId of another, also of one who has signed in: only one of two at once gets it', async () => {
    const people = [await provision('taken'), await provision('takes'), await provision('takes-too')];
    await service.dependencies.db.system.query({ text: 'update users set last_sign_in_at = now()' });
    const groupIds = [await group('taken'), await group('takes'), await group('takes-too')];
    for (const [kind, ids, done] of [
      ['Users', people, 200],
      ['Groups', groupIds, 204],
    ] as const) {
      const patch = (id: string, value: string) =>
        scim('PATCH', `/${kind}/${id}`, { body: patchOf({ op: 'replace', path: 'externalId', value }) });
      const [first = '', second = '', third = ''] = ids;
      expect((await patch(first, `own-${kind}`)).status).toBe(done);
      expect(await patch(second, `own-${kind}`)).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
      const both = await Promise.all([patch(second, `new-${kind}`), patch(third, `new-${kind}`)]);
      expect(both.map(({ status }) => status).sort((a, b) => a - b)).toEqual([done, 409]);
      expect((await patch(first, `own-${kind}`)).status).toBe(done);
    }
  });

  test('several changes are made together or not at all', async () => {
    const { status } = await scim('PATCH', `/Users/${user}`, {
      body: patchOf(
        { op: 'replace', path: 'displayName', value: 'Half' },
        { op: 'replace', path: 'active', value: 'maybe' },
      ),
    });
    expect([status, (await scim('GET', `/Users/${user}`)).body.displayName]).toEqual([400, 'nonsense Okta']);
  });

  test('names of built-in properties are ordinary', async () => {
    const { status, body } = await scim('PATCH', `/Users/${user}`, {
      body: patchOf({
        op: 'add',
        value: { constructor: 'x', toString: 'x', name: { constructor: 'x', valueOf: 'y' } },
      }),
    });
    expect([status, body.name]).toEqual([200, { givenName: 'nonsense', familyName: 'Okta' }]);
  });
});

describe('lists', () => {
  test('come in parts, each once', async () => {
    for (const each of ['part-a', 'part-b', 'part-c']) await provision(each);
    const { body: all } = await scim('GET', '/Users?count=200');
    const ids: string[] = [];
    for (let startIndex = 1; ; ) {
      const { body } = await scim('GET', `/Users?startIndex=${startIndex}&count=2`);
      expect([body.startIndex, body.totalResults, body.itemsPerPage]).toEqual([
        startIndex,
        all.totalResults,
        body.Resources.length,
      ]);
      if (body.Resources.length === 0) break;
      ids.push(...body.Resources.map(({ id }: { id: string }) => id));
      startIndex += body.itemsPerPage;
    }
    expect(ids).toEqual(all.Resources.map(({ id }: { id: string }) => id));
    const { body: none } = await scim('GET', '/Users?count=0&startIndex=-5');
    expect([none.totalResults, none.Resources, none.startIndex]).toEqual([all.totalResults, [], 1]);
    const { body: few } = await scim(
      'GET',
      `/Users${filterOf('userName eq "part-a@example.com"')}&attributes=userName`,
    );
    expect(few.Resources).toEqual([
      { schemas: expect.any(Array), id: expect.any(String), userName: 'part-a@example.com' },
    ]);
  });
});

test('many requests at once are safe: each counts, and the result matches', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `many-${at}`);
  const made = await Promise.all(
    [...names, ...names.slice(0, 10)].map((name) => scim('POST', '/Users', { body: oktaUser(name) })),
  );
  const statuses = made.map(({ status }) => status);
  expect([
    statuses.filter((status) => status === 201).length,
    statuses.filter((status) => status === 409).length,
  ]).toEqual([50, 10]);
  const ids = [...new Set(made.filter(({ status }) => status === 201).map(({ body }) => body.id as string))];
  const others = [await anyGroup(), await anyGroup()];
  // All join and some leave, by several groups and by the people themselves, at the same time.
  const answers = await Promise.all([
    ...ids.map((id) => join('engineers', id)),
    ...ids.map((id, at) =>
      scim('PATCH', `/Groups/${others[at % 2]}`, {
        body: patchOf({ op: 'add', path: 'members', value: [{ value: id }, { value: ids[(at + 7) % 50] }] }),
      }),
    ),
    ...ids
      .slice(0, 25)
      .map((id) => scim('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'active', value: false }) })),
  ]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 204]));
  const { db } = service.dependencies;
  const [row] = await db.system.query<{ active: number; gone: number }>(
    {
      text: `select count(*) filter (where status = 'active')::int as active, count(*) filter (where status = 'removed')::int as gone
             from members where user_id = any($1::uuid[])`,
    },
    [ids.map((id) => id.slice(4))],
  );
  // People who left before they joined have no membership at all.
  expect(row?.active).toBe(25);
  expect(row?.gone).toBeLessThanOrEqual(25);
  const { body } = await scim('GET', `/Groups/${mapped.engineers}`);
  expect(ids.filter((id) => !body.members.some(({ value }: { value: string }) => value === id))).toEqual([]);
});

test('a group of 10,000 members is created, changed and read in few statements and seconds', async () => {
  const { db } = service.dependencies;
  const rows = await db.system.query<{ id: string }>(
    {
      text: `insert into users (id, issuer, subject, name, user_name, provisioned, grants, created_at, updated_at)
             select gen_random_uuid(), $1, 'big-' || n, 'Big ' || n, 'big-' || n, '{}', '[]', now(), now() from generate_series(1, 10000) n
             returning id`,
    },
    [ISSUER],
  );
  const ids = rows.map(({ id }) => `usr_${id}`);
  const membersOf = (part: string[]) => part.map((value) => ({ value }));
  const timed = async (what: string, work: () => Promise<{ status: number }>) => {
    const started = Date.now();
    const { status } = await work();
    expect([what, status < 300]).toEqual([what, true]);
    expect([what, Date.now() - started < 20_000]).toEqual([what, true]);
  };
  const big = `/Groups/${mapped.readers}`;
  await timed('all join', () =>
    scim('PATCH', big, { body: patchOf({ op: 'add', path: 'members', value: membersOf(ids) }) }),
  );
  const { data } = (await service.call('GET', '/members?search=Big%209999')).body;
  expect(data).toMatchObject([{ role: 'viewer', status: 'active' }]);
  expect((await scim('GET', big)).body.members.length).toBeGreaterThanOrEqual(10_000);
  await timed('one leaves', () =>
    scim('PATCH', big, { body: patchOf({ op: 'remove', path: `members[value eq "${ids[0]}"]` }) }),
  );
  await timed('2,000 leave, each by an operation', () =>
    scim('PATCH', big, {
      body: patchOf(...ids.slice(1, 2_001).map((id) => ({ op: 'remove', path: `members[value eq "${id}"]` }))),
    }),
  );
  await timed('the rest leaves', () =>
    scim('PATCH', big, { body: patchOf({ op: 'replace', path: 'members', value: [] }) }),
  );
  const [left] = await db.system.query<{ count: number }>({
    text: `select count(*)::int as count from members where name like 'Big %' and status = 'active'`,
  });
  expect(left?.count).toBe(0);
}, 120_000);

test('another workspace is unaffected', async () => {
  const other = await createOtherWorkspace(service, 'unaffected');
  const id = await provision('elsewhere');
  await join('leads', id);
  expect((await other.call('GET', '/members')).body.data).toEqual([]);
  const { body } = await other.call('GET', '/audit-log?actor=provisioning');
  expect(body.data).toEqual([]);
});
