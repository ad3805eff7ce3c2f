import { z } from 'zod';
import { ApiError } from '../../domain/errors.ts';
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
} from '../../services/access/sessions.ts';
import { presentSession } from './presenter.ts';
import { ownSessionSample, sessionSample } from './samples.ts';
import { CreateSession, OwnSession, Session, SessionPage } from './schema.ts';

const tag = 'Sessions';
const MAX_BODY_BYTES = 4 * 1024;

/** Which sessions the caller may see and end. */
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

/** `/session`, the caller's own, and `/sessions`. */
export function sessionRoutes({ authenticator, signIn }: { authenticator: Authenticator; signIn: KeySignIn }): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/session',
      operationId: 'createSession',
      audit: ['session.created', 'session.ended'],
      tag,
      summary: 'Create a session (sign in)',
      description:
        'The response sets the cookie, which then takes the place of the key. A browser must ask from a page of this service. ' +
        'Where `CONSOLE_KEY_SIGN_IN` is `false`, only an emergency key does. ' +
        `A key has at most ${MAX_SESSIONS_PER_KEY} sessions: one more ends the one that was not used for longest.`,
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
        requireKeySignIn(signIn, key);
        const { token, session, draftsKey } = await db.transaction(async (query) => {
          const created = await createSession(query, {
            apiKeyId: key.id,
            address,
            userAgent: request.header('User-Agent'),
          });
          return { ...created, draftsKey: await draftsKeyOf(query, created.session.id) };
        });
        request.setHeader('Set-Cookie', sessionCookie(token, isHttps));
        return { ...presentSession(session, key, session.id), drafts_key: draftsKey };
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
        return { ...presentSession(session, key), drafts_key };
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
      response: Session,
      responseExample: sessionSample,
      errors: ['not_found'],
      async handler(request) {
        const { db, key, isHttps } = request;
        const id = currentOf(key);
        const { session, hash } = await endSession(db, id, ownerOf(key));
        authenticator.forgetSession(hash);
        request.setHeader('Set-Cookie', sessionCookie(null, isHttps));
        return presentSession(session, key);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/sessions',
      operationId: 'listSessions',
      tag,
      summary: 'List sessions, newest first',
      description: 'With the scope `admin` all of the workspace, else those of the same key.',
      scope: SCOPES,
      query: z.strictObject(PageQuery),
      response: SessionPage,
      responseExample: { data: [sessionSample], next_cursor: null },
      async handler({ db, key, query: { limit, cursor } }) {
        const before = decodeCursor(cursor, z.uuid());
        const rows = await listSessions(db, ownerOf(key), { before, limit: limit + 1 });
        const page = { rows: rows.slice(0, limit), more: rows.length > limit };
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
      description: 'With the scope `admin` any of the workspace, else one of the same key.',
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
