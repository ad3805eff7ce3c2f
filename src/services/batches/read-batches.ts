import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { prepared, type RowOf } from '../../db/statement.ts';

const READ = prepared<{ evaluationId: string }>()((db, { evaluationId }) =>
  db
    .selectFrom('provider_batches')
    .select(['id', 'number', 'round', 'wave', 'evaluator', 'provider', 'model', 'provider_batch_id', 'status'])
    .select(['provider_status', 'items', 'counts', 'created_at', 'submitted_at', 'expires_at', 'next_poll_at'])
    .select(['finished_at', 'error'])
    .where('evaluation_id', '=', evaluationId)
    // The other batches had nothing to call.
    .where(sql<boolean>`(items > 0 or finished_at is null or error is not null)`)
    .orderBy('number'),
);

/** A batch as shown to callers. */
export type BatchRow = RowOf<typeof READ>;

/** The batches of a run, in order of number. @param query bound to the workspace, or across workspaces */
export function readBatches(query: Query, evaluationId: string): Promise<BatchRow[]> {
  return query(READ, { evaluationId });
}

const SAVED = sql<string>`coalesce(sum(cost_amount * (1 / (pricing->>'batch_multiplier')::numeric - 1)), 0)`;

/**
 * What a run has saved so far compared to making the calls of its batches one by one.
 * @param query bound to the workspace, or across workspaces
 * @returns US dollars, a decimal string
 */
export async function savingsOf(query: Query, evaluationId: string): Promise<string> {
  const [row] = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .select((eb) => {
        const results = eb
          .selectFrom('evaluation_results as r')
          .select(SAVED.as('sum'))
          .whereRef('r.evaluation_id', '=', 'e.id')
          .where(sql<boolean>`pricing ? 'batch_multiplier'`);
        const judgements = eb
          .selectFrom('evaluation_judgements as j')
          .select(SAVED.as('sum'))
          .whereRef('j.evaluation_id', '=', 'e.id')
          .where(sql<boolean>`pricing ? 'batch_multiplier'`);
        return sql<string>`trim_scale(round(${results} + ${judgements}, 12))::text`.as('saved');
      })
      .where('e.id', '=', evaluationId),
  );
  return row?.saved ?? '0';
}
