import { z } from 'zod';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { scopesWithin } from '../../domain/roles.ts';
import { idParams } from '../../http/fields.ts';
import { decodeCursor, PageQuery, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import { SCOPES } from '../../services/access/api-keys.ts';
import type { AuthenticatedKey, Authenticator } from '../../services/access/authenticate.ts';
import { type KeySignIn, requireKeySignIn } from '../../services/access/key-sign-in.ts';
import {
  createSession,
  draftsKeyOf,
  endSession,
  getSession,
  listSessions,
  MAX_SESSIONS_PER_KEY,
  type SessionOwner,
  type SessionRow,
} from '../../services/access/sessions.ts';
import type { Caller } from '../../sign-in/member-session.ts';
import { providerOfSession, type SignInDeps, switchWorkspace, workspacesOf } from '../../sign-in/sign-in.ts';
import { CreateSession, EndedSession, OwnSession, Session, SessionPage, SwitchWorkspace } from './schema.ts';

/** Samples for the documentation. */
const sessionSample = {
  id: 'sess_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  key: { id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', name: 'Ada', scopes: ['read', 'execute', 'write'] },
  workspace: { name: 'default' },
  member: { id: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', name: 'Ada', role: 'editor' as const },
  provider: 'sso',
  is_current: true,
  address: '192.0.2.1',
  user_agent: 'Mozilla/5.0',
  created_at: '2026-01-31T12:00:00.000Z',
  last_used_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-02-01T00:00:00.000Z',
};

const ownSessionSample = {
  ...sessionSample,
  drafts_key: 'kR0n0hS4cS7mJv3yN0nqXc2lq0mB5b0aWzvJ1kq3m2E=',
  workspaces: [
    { name: 'default', role: 'editor' as const },
    { name: 'research', role: 'viewer' as const },
  ],
};

/**
 * @param caller a key of the same workspace
 * @param currentId the id of the caller's session. Default: the session of the request, if any
 */
function presentSession(
  row: SessionRow,
  caller: AuthenticatedKey,
  currentId: string | undefined = caller.sessionId,
): z.input<typeof Session> {
  return {
    id: publicId('session', row.id),
    key: {
      id: publicId('apiKey', row.key_id),
      name: row.key_name,
      scopes: scopesWithin(row.key_scopes, row.role),
    },
    workspace: { name: caller.workspaceName },
    member:
      row.member_id === null || row.member_name === null || row.role === null
        ? null
        : { id: publicId('member', row.member_id), name: row.member_name, role: row.role },
    provider: row.provider,
    is_current: row.id === currentId,
    address: row.address,
    user_agent: row.user_agent,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}

const tag = 'Sessions';
const MAX_BODY_BYTES = 4 * 1024;

/** The sessions that the caller can see and end. */
const ownerOf = ({ id, scopes }: AuthenticatedKey): SessionOwner => ({
  apiKeyId: scopes.includes('admin') ? undefined : id,
});

/** @throws ApiError `unauthorized` */
function currentOf({ sessionId }: AuthenticatedKey): string {
  if (sessionId === undefined)
    throw new ApiError(
      'unauthorized',
      'This request was made with a key: it has no session. Sign in with POST /v1/session.',
    );
  return sessionId;
}

/** `/session` for the caller's own session, and `/sessions`. */
export function sessionRoutes({
  authenticator,
  signIn,
  keySignIn,
  requireRoom,
}: {
  authenticator: Authenticator;
  signIn: SignInDeps;
  keySignIn: KeySignIn;
  requireRoom: Caller['requireRoom'];
}): Route[] {
  const { system } = signIn.db;
  return [
    defineRoute({
      method: 'post',
      path: '/session',
      operationId: 'createSession',
      audit: ['session.created', 'session.ended'],
      tag,
      summary: 'Create a session (sign in)',
      description:
        'The response sets a cookie that replaces the key. A browser must send the request from a page of this service. ' +
        'If `CONSOLE_KEY_SIGN_IN` is `false`, only an emergency key can sign in. ' +
        `A key can have at most ${MAX_SESSIONS_PER_KEY} sessions; another one ends the least recently used.`,
      scope: SCOPES,
      status: 201,
      body: CreateSession,
      maxBodyBytes: MAX_BODY_BYTES,
      bodyExamples: { 'A key': { key: 'pms_<43 characters>' } },
      keyOf: ({ key }) => key,
      response: OwnSession,
      responseExample: ownSessionSample,
      errors: ['invalid_state'],
      async handler(request) {
        const { db, key, address, isHttps } = request;
        requireKeySignIn(keySignIn, key);
        const { token, session, draftsKey } = await db.transaction(async (query) => {
          const created = await createSession(query, {
            apiKeyId: key.id,
            address,
            userAgent: request.header('User-Agent'),
          });
          return { ...created, draftsKey: await draftsKeyOf(query, created.session.id) };
        });
        request.setHeader('Set-Cookie', sessionCookie(token, isHttps));
        return { ...presentSession(session, key, session.id), drafts_key: draftsKey, workspaces: [] };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/session',
      operationId: 'getSession',
      tag,
      summary: 'Retrieve the session of the request',
      scope: SCOPES,
      response: OwnSession,
      responseExample: ownSessionSample,
      errors: ['not_found'],
      async handler({ db, key }) {
        const id = currentOf(key);
        const [session, drafts_key] = await Promise.all([getSession(db.query, id), draftsKeyOf(db.query, id)]);
        return { ...presentSession(session, key), drafts_key, workspaces: await workspacesOf(system.query, session) };
      },
    }),
    defineRoute({
      method: 'post',
      path: '/session/workspace',
      operationId: 'switchWorkspace',
      audit: ['session.ended'],
      tag,
      summary: 'Switch the session to another workspace',
      description:
        'For sessions signed in with an identity provider. The response sets the cookie of a session in the other workspace; the previous session ends.',
      scope: SCOPES,
      body: SwitchWorkspace,
      maxBodyBytes: MAX_BODY_BYTES,
      bodyExamples: { 'A workspace': { workspace: 'research' } },
      response: OwnSession,
      responseExample: ownSessionSample,
      errors: ['not_found'],
      async handler(request) {
        const { key, address, isHttps, requestId, body } = request;
        const userAgent = request.header('User-Agent');
        const caller = { address, userAgent, requestId, requireRoom };
        const begun = await switchWorkspace(signIn, currentOf(key), body.workspace, caller);
        const { token, session, workspaceId, workspaceName, endedHash } = begun;
        if (endedHash !== undefined) authenticator.forgetSession(endedHash);
        request.setHeader('Set-Cookie', sessionCookie(token, isHttps));
        const { query } = signIn.db.workspace(workspaceId);
        return {
          ...presentSession(session, { ...key, workspaceName }, session.id),
          drafts_key: await draftsKeyOf(query, session.id),
          workspaces: await workspacesOf(system.query, session),
        };
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/session',
      operationId: 'endSession',
      audit: ['session.ended'],
      tag,
      summary: 'End the session of the request (sign out)',
      scope: SCOPES,
      description:
        'A person who signed in with an identity provider stays signed in there until the browser visits `end_session_url`.',
      response: EndedSession,
      responseExample: { ...sessionSample, end_session_url: 'https://login.example.com/logout?id_token_hint=…' },
      errors: ['not_found'],
      async handler(request) {
        const { db, key, isHttps } = request;
        const id = currentOf(key);
        const provider = await providerOfSession(signIn, db.query, id);
        const { session, hash } = await endSession(db, id, ownerOf(key));
        authenticator.forgetSession(hash);
        request.setHeader('Set-Cookie', sessionCookie(null, isHttps));
        const url = await provider?.provider.signOutUrl(provider.idToken);
        return { ...presentSession(session, key), end_session_url: url?.href ?? null };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/sessions',
      operationId: 'listSessions',
      tag,
      summary: 'List sessions, newest first',
      description: 'With the scope `admin`, lists all sessions of the workspace; otherwise those of the same key.',
      scope: SCOPES,
      query: z.strictObject(PageQuery),
      response: SessionPage,
      responseExample: { data: [sessionSample], next_cursor: null },
      async handler({ db, key, query: { limit, cursor } }) {
        const page = await listSessions(db, ownerOf(key), limit, decodeCursor(cursor, z.uuid()));
        return toPage(
          page,
          (row) => presentSession(row, key),
          ({ id }) => id,
        );
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/sessions/{id}',
      operationId: 'endSessionById',
      audit: ['session.ended'],
      tag,
      summary: 'End a session immediately',
      description: 'With the scope `admin`, ends any session of the workspace; otherwise one of the same key.',
      scope: SCOPES,
      params: idParams('session'),
      response: Session,
      responseExample: { ...sessionSample, is_current: false },
      async handler({ db, key, params }) {
        const { session, hash } = await endSession(db, params.id, ownerOf(key));
        authenticator.forgetSession(hash);
        return presentSession(session, key);
      },
    }),
  ];
}
