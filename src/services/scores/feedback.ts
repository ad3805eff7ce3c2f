import type { Query } from '../../db/database.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import type { ScoreValue } from '../../domain/scores/score.ts';
import { feedbackScoreId } from '../../domain/scores/score-id.ts';
import { findScoreDefinitions, unknownName } from './definitions.ts';
import type { FeedbackGrant } from './feedback-token.ts';
import { type ScoreRow, storeScores } from './store-scores.ts';

/** @throws ApiError `not_found` */
export async function requireExecution(query: Query, id: string): Promise<void> {
  const rows = await query((db) => db.selectFrom('executions').select('id').where('id', '=', id));
  if (rows.length === 0) throw notFound('This execution');
}

/**
 * A score submitted with a token must not decide what a name means for all others.
 * @throws ApiError `invalid_request` if a name has neither a definition nor a score
 */
export async function requireKnownNames(query: Query, names: readonly string[]): Promise<void> {
  const known = await findScoreDefinitions(query, names);
  for (const [index, name] of names.entries())
    if (!known.has(name)) throw invalidField(`names.${index}`, unknownName(name));
}

/** Whether the workspace of a token still exists. @param query of the whole system */
export async function hasWorkspace(query: Query, { workspaceId }: FeedbackGrant): Promise<boolean> {
  const rows = await query((db) =>
    db.selectFrom('workspaces').select('id').where('id', '=', workspaceId).where('deleted_at', 'is', null),
  );
  return rows.length > 0;
}

/**
 * Stores the scores submitted with a token; submitting them again replaces them. Runs in a transaction.
 * @returns undefined if the execution is gone
 * @throws ApiError `invalid_request` if the value does not fit, or the name is no longer known
 */
export async function storeFeedback(
  query: Query,
  grant: FeedbackGrant,
  { name, value, comment }: { name: string; value: ScoreValue; comment: string | null },
): Promise<ScoreRow | undefined> {
  const { subject } = grant;
  const score = {
    id: feedbackScoreId(name, subject),
    name,
    value,
    subject,
    source: 'feedback',
    author: null,
    comment,
  } as const;
  try {
    const [row] = await storeScores(query, [score], () => '');
    return row;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}
