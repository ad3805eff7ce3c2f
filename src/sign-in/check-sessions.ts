import { type SqlBool, sql } from 'kysely';
import { overdue } from '../db/claim.ts';
import { bindWorkspace } from '../db/database.ts';
import { milliseconds } from '../db/sql.ts';
import { publicId } from '../domain/ids.ts';
import { endSessions } from '../services/access/end-access.ts';
import { endOfSession } from '../services/access/sessions.ts';
import { actAs, OPERATOR } from '../services/audit/acting.ts';
import { vouchedBy } from './claims.ts';
import type { IdentityProvider, ProviderAnswer } from './identity-provider.ts';
import { decryptTokens, providerPart, RETRY_EVERY_MS } from './provider-tokens.ts';
import type { SignInDeps } from './sign-in.ts';
import { SignInError } from './sign-in-error.ts';
import { noteUser } from './users.ts';

/** Sessions of one provider that are checked concurrently. */
const BATCH_SIZE = 8;

/** Claims some sessions that are due for a check, for the maximum duration of a check. An unfinished one is then due again. */
async function takeDue({ db }: SignInDeps, provider: string) {
  return db.system.query((all) =>
    overdue(all, 'sessions', sql<SqlBool>`expires_at > now() and provider = ${provider}`, BATCH_SIZE)
      .updateTable('sessions as s')
      .from(['overdue', 'api_keys as k', 'members as m', 'users as u'])
      .set({ check_at: sql<Date>`now() + ${milliseconds(RETRY_EVERY_MS)}` })
      .whereRef('s.id', '=', 'overdue.id')
      .whereRef('k.id', '=', 's.api_key_id')
      .whereRef('m.id', '=', 'k.member_id')
      .whereRef('u.id', '=', 'm.user_id')
      .returning(['s.id', 's.workspace_id', 's.provider_tokens']),
  );
}
type DueSession = Awaited<ReturnType<typeof takeDue>>[number];

async function endSession({ db }: SignInDeps, { id, workspace_id }: DueSession, reason: string): Promise<void> {
  await actAs(OPERATOR, () =>
    db.system.transaction((query) => endSessions(bindWorkspace(query, workspace_id), id, reason)),
  );
}

/** Continues a session with the current claims. If its membership is gone, the session has already ended. */
async function goOn(
  deps: SignInDeps,
  { settings }: IdentityProvider,
  session: DueSession,
  { claims, tokens }: ProviderAnswer,
): Promise<void> {
  const { db, cipher } = deps;
  const part = providerPart(cipher, settings.id, tokens);
  await actAs(OPERATOR, () =>
    db.system.transaction(async (query) => {
      await noteUser(query, settings, vouchedBy(settings, claims), { isSignIn: false });
      await query((all) =>
        all
          .updateTable('sessions as s')
          .from('api_keys as k')
          .set((eb) => ({
            provider_tokens: part.tokens,
            check_at: part.checkAt,
            valid_until: part.validUntil,
            expires_at: endOfSession({
              usedAt: eb.ref('s.last_used_at'),
              createdAt: eb.ref('s.created_at'),
              keyExpiresAt: eb.ref('k.expires_at'),
              validUntil: sql<Date>`${part.validUntil}`,
            }),
          }))
          .whereRef('k.id', '=', 's.api_key_id')
          // The person may have switched workspaces in the meantime, with the same tokens.
          .where((eb) => eb.or([eb('s.id', '=', session.id), eb('s.provider_tokens', '=', session.provider_tokens)])),
      );
    }),
  );
}

async function check(deps: SignInDeps, provider: IdentityProvider, session: DueSession): Promise<void> {
  const { refresh, id, sub } = decryptTokens(deps.cipher, session.provider_tokens);
  if (refresh === undefined || sub === undefined)
    return endSession(deps, session, 'what the identity provider gave can no longer be read');
  let answer: ProviderAnswer;
  try {
    answer = await provider.refresh({ refresh, id, sub });
  } catch (error) {
    if (!(error instanceof SignInError)) throw error;
    if (error.problem === 'grant_ended')
      return endSession(deps, session, 'the identity provider has ended the sign-in');
    const facts = {
      session_id: publicId('session', session.id),
      provider: provider.settings.id,
      reason: error.message,
    };
    deps.log.warn(facts, 'cannot check with an identity provider whether a person still has a role; trying again');
    return;
  }
  await goOn(deps, provider, session, answer);
}

/**
 * Asks identity providers whether signed-in people still have their roles, if due. People without a role are signed out. An unreachable
 * provider is tried again after a minute; its last answer is trusted for an hour. Safe to run in several processes concurrently.
 */
export async function checkSessions(deps: SignInDeps, stopping: AbortSignal): Promise<void> {
  await Promise.all(
    deps.providers.all.map(async (provider) => {
      for (;;) {
        const due = stopping.aborted ? [] : await takeDue(deps, provider.settings.id);
        if (due.length === 0) return;
        const done = await Promise.allSettled(due.map((session) => check(deps, provider, session)));
        const failures = done.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
        if (failures.length > 0) throw new AggregateError(failures, 'Some sessions could not be checked.');
      }
    }),
  );
}
