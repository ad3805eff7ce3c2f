import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { anyOf } from '../../db/sql.ts';
import { notFound } from '../../domain/errors.ts';
import { type ScoreToStore, storeScores } from '../scores/store-scores.ts';
import { addCounts, deleteItems } from './rule-items.ts';
import { keepLastError, type RuleSubject, type RuleWork, subjectName } from './rule-work.ts';

/** The result of an execution or trace. */
export interface ItemResult {
  /** The number of the item. */
  seq: number;
  subject: RuleSubject;
  scores: ScoreToStore[];
  /** Why a score is missing; null if none is. */
  error: { code: string; message: string } | null;
}

/** The maximum number of scores that a transaction stores, which is the limit of `storeScores`. */
const MAX_SCORES = 1_000;

/** Scores of a trace can precede it, but not outlive it. @throws ApiError `not_found` */
async function requireTraces(query: Query, scores: readonly ScoreToStore[]): Promise<void> {
  const ids = scores.flatMap(({ subject }) => ('traceId' in subject ? [subject.traceId] : []));
  if (ids.length === 0) return;
  const found = await query((db) =>
    db.selectFrom('traces').select('id').where('id', '=', anyOf(ids)).orderBy('id').forKeyShare(),
  );
  if (found.length < new Set(ids).size) throw notFound('This trace');
}

/**
 * Stores scores, deletes their items, and counts them: all or nothing. Items that were already deleted are ignored.
 * @param day the day to count them for, `2026-01-31`
 * @throws ApiError if a score can't be stored
 */
export function storeResults(
  db: WorkspaceDatabase,
  work: RuleWork,
  day: string,
  results: readonly ItemResult[],
): Promise<void> {
  return db.transaction(async (query) => {
    const deleted = await deleteItems(
      query,
      results.map(({ seq }) => seq),
    );
    const ours = results.filter(({ seq }) => deleted.has(seq));
    if (ours.length === 0) return;
    const scores = ours.flatMap((result) => result.scores);
    await requireTraces(query, scores);
    for (let from = 0; from < scores.length; from += MAX_SCORES)
      await storeScores(query, scores.slice(from, from + MAX_SCORES));
    const failed = ours.filter(({ error }) => error !== null);
    await addCounts(query, work, day, { scored: ours.length - failed.length, failed: failed.length });
    const last = failed.at(-1);
    if (last?.error)
      await keepLastError(query, work, {
        ...last.error,
        message: `${subjectName(last.subject)}: ${last.error.message}`,
      });
  });
}
