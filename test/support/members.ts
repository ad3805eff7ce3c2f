import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { startApi } from '../../src/api/server.ts';
import type { Settings } from '../../src/config.ts';
import { bindWorkspace, openDatabase, type Query } from '../../src/db/database.ts';
import { openListener } from '../../src/db/listener.ts';
import { now } from '../../src/db/sql.ts';
import { asJson } from '../../src/db/statement.ts';
import { newId, publicId } from '../../src/domain/ids.ts';
import type { Grant, Role } from '../../src/domain/roles.ts';
import { SESSION_COOKIE } from '../../src/http/session-cookie.ts';
import { createApiKey, generateApiKey, SCOPES, type Scope } from '../../src/services/access/api-keys.ts';
import { createSession } from '../../src/services/access/sessions.ts';
import { signInKeyOf } from '../../src/services/members/members.ts';
import { syncMembers } from '../../src/services/members/sync-members.ts';
import type { TestService } from './service.ts';

/** A signed-in person with their membership in one workspace. */
export interface TestMember {
  /** `mem_…` */
  id: string;
  userId: string;
  workspaceId: string;
  /** A personal key with all scopes. */
  key: string;
  keyId: string;
  /** Headers of a session in a browser. */
  session: Record<string, string>;
  /** The session token in the browser. */
  token: string;
}

interface Person {
  name?: string;
  email?: string | null;
  issuer?: string;
  subject?: string;
}

/** Stores a person with these grants, as if signed in by an identity provider. @returns the membership of the first workspace */
async function join(
  query: Query,
  grants: Grant[],
  {
    name = 'Ada Lovelace',
    email = 'ada@example.com',
    issuer = 'https://id.example.com',
    subject = randomUUID(),
  }: Person,
) {
  const [user] = await query((all) =>
    all
      .insertInto('users')
      .values({
        id: newId(),
        issuer,
        subject,
        name,
        email,
        grants: asJson(grants),
        last_sign_in_at: now,
        created_at: now,
        updated_at: now,
      })
      .returningAll(),
  );
  if (user === undefined) throw new Error('The user was not returned.');
  const memberships = await syncMembers(query, user, () => []);
  const member = memberships.find(({ workspaceName }) => workspaceName === grants[0]?.workspace);
  if (member === undefined) throw new Error('There is no membership.');
  return member;
}

/** A person who signs in with these grants. The key and the session belong to the first workspace. */
export const signIn = (
  service: Pick<TestService, 'dependencies'>,
  grants: Grant[],
  person: Person = {},
): Promise<TestMember> =>
  service.dependencies.db.system.transaction(async (query) => {
    const member = await join(query, grants, person);
    const access = await accessOf(query, member);
    return { ...access, id: publicId('member', member.id), userId: publicId('user', member.user_id) };
  });

type MemberKeys = Omit<TestMember, 'id' | 'userId'>;

async function sessionOf(query: Query, member: { id: string; workspace_id: string; name: string }): Promise<string> {
  const own = bindWorkspace(query, member.workspace_id);
  const apiKeyId = await signInKeyOf(own, member);
  return (await createSession(own, { apiKeyId, address: '192.0.2.1', userAgent: 'test' })).token;
}

/** A personal key and a session of a member. */
async function accessOf(query: Query, member: Parameters<typeof sessionOf>[1]): Promise<MemberKeys> {
  const key = generateApiKey();
  const record = await createApiKey(bindWorkspace(query, member.workspace_id), key, {
    name: `${member.name}'s`,
    scopes: [...SCOPES],
    expiresAt: null,
    kind: 'personal',
    memberId: member.id,
  });
  const token = await sessionOf(query, member);
  return {
    workspaceId: member.workspace_id,
    key,
    keyId: publicId('apiKey', record.id),
    session: browserHeaders(token),
    token,
  };
}

/** The same for an existing member. */
export const grantAccess = (
  service: Pick<TestService, 'dependencies'>,
  member: Parameters<typeof accessOf>[1],
): Promise<MemberKeys> => service.dependencies.db.system.transaction((query) => accessOf(query, member));

/** The headers of a browser for a change with a session. */
export const browserHeaders = (token: string): Record<string, string> => ({
  Cookie: `${SESSION_COOKIE}=${token}`,
  'X-Console': '1',
  'Sec-Fetch-Site': 'same-origin',
});

/** A member of the workspace `default`. */
export const memberOf = (service: Pick<TestService, 'dependencies'>, role: Role, person: Person = {}) =>
  signIn(service, [{ workspace: 'default', role }], person);

/** A person of a workspace, signed in as by an identity provider. */
export interface SignedInMember {
  /** UUID. */
  memberId: string;
  /** The headers of the browser for a change with the session. */
  headers: Record<string, string>;
  token: string;
}

/** Someone with a session and no key. @param workspace its name */
export const signInMember = (
  service: Pick<TestService, 'dependencies'>,
  { role, name = 'Ada', workspace = 'default' }: { role: Role; name?: string; workspace?: string },
): Promise<SignedInMember> =>
  service.dependencies.db.system.transaction(async (query) => {
    const member = await join(query, [{ workspace, role }], { name });
    const token = await sessionOf(query, member);
    return { memberId: member.id, headers: browserHeaders(token), token };
  });

/** A personal key with these scopes. */
export async function personalKey(service: TestService, { key }: TestMember, ...scopes: Scope[]): Promise<string> {
  const { body } = await service.call('POST', '/me/api-keys', { key, body: { name: scopes.join(' '), scopes } });
  return body.key;
}

/**
 * Simulates another API process on the same database.
 * @param change different settings
 */
export async function startSecondApi(
  service: TestService,
  change: Partial<Settings> = {},
): Promise<{ origin: string; close(): Promise<void> }> {
  const { log, settings, ...rest } = service.dependencies;
  const db = await openDatabase(service.databaseUrl, { poolSize: 5 });
  const listener = openListener(service.databaseUrl, log);
  const api = await startApi(
    { ...rest, log, db, listener, registry: new Registry(), settings: { ...settings, ...change } },
    { eager: false },
  );
  return {
    origin: `http://127.0.0.1:${api.port}`,
    async close() {
      await api.close(0);
      await listener.close();
      await db.close();
    },
  };
}
