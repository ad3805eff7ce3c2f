import { type QueryCreator, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import type { Tables } from '../../db/tables.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import { isWanted } from '../acceptance/is-wanted.ts';
import { UNTOLD } from './evaluations.ts';

type WithGone = Tables & {
  gone: { id: string; workspace_id: string; examples_id: string | null; source_evaluation_id: string | null };
};

/** Deletes what belongs to evaluations that are withdrawn (`gone`): their inline examples and their idempotency keys. */
const withoutBelongings = (db: QueryCreator<WithGone>) =>
  db
    .with('gone_keys', (cte) =>
      cte
        .deleteFrom('idempotency_keys as k')
        .using('gone')
        .whereRef('k.workspace_id', '=', 'gone.workspace_id')
        .where('k.resource_id', '=', sql<string>`gone.id::text`),
    )
    .with('gone_examples', (cte) =>
      cte
        .deleteFrom('dataset_versions as v')
        .using('gone')
        .whereRef('v.workspace_id', '=', 'gone.workspace_id')
        .whereRef('v.id', '=', 'gone.examples_id')
        .where('v.dataset_id', 'is', null)
        // Else they are another run's, too.
        .where('gone.source_evaluation_id', 'is', null),
    );

const CANCEL = changeState(evaluationStates, { to: 'canceled' });

/**
 * Withdraws an evaluation whose caller is told that it failed: one that has not begun is deleted.
 * @param force also one that a caller may have been told of; one that has begun is canceled
 * @returns false where it runs, or will
 */
export async function withdrawEvaluation(db: WorkspaceDatabase, id: string, force: boolean): Promise<boolean> {
  const [row] = await db.query((own) =>
    withoutBelongings(
      own.with('gone', (cte) =>
        cte
          .deleteFrom('evaluations')
          .where('id', '=', id)
          .where('status', '=', 'scheduled')
          .where((eb) => eb.or([eb('accepted_at', 'is', null), eb.val(force)]))
          .returning(['id', 'workspace_id', 'examples_id', 'source_evaluation_id']),
      ),
    )
      .with('canceled', (cte) =>
        cte
          .updateTable('evaluations')
          .set({ ...CANCEL.set, finished_at: now, ...UNTOLD })
          .where('id', '=', id)
          .where('status', '<>', 'scheduled')
          .where(CANCEL.where)
          .where((eb) => eb.val(force))
          .returning('id'),
      )
      .with('canceled_keys', (cte) =>
        cte
          .deleteFrom('idempotency_keys as k')
          .using('canceled')
          .where('k.resource_id', '=', sql<string>`canceled.id::text`),
      )
      .selectNoFrom((eb) =>
        eb
          .and([
            eb.not(eb.exists(eb.selectFrom('gone').select('gone.id'))),
            eb.not(eb.exists(eb.selectFrom('canceled').select('canceled.id'))),
            eb.exists(eb.selectFrom('evaluations as e').select('e.id').where('e.id', '=', id)),
          ])
          .as('runs'),
      ),
  );
  return row?.runs !== true;
}

/**
 * Withdraws an evaluation that no caller was told of in time, with what belongs to it.
 * @returns whether it was withdrawn
 */
export async function withdrawUnacceptedEvaluation(query: Query, id: string): Promise<boolean> {
  const gone = await query((db) =>
    withoutBelongings(
      db.with('gone', (cte) =>
        cte
          .deleteFrom('evaluations')
          .where('id', '=', id)
          .where('status', '=', 'scheduled')
          .where((eb) => eb.not(isWanted))
          .returning(['id', 'workspace_id', 'examples_id', 'source_evaluation_id']),
      ),
    )
      .selectFrom('gone')
      .select('id'),
  );
  return gone.length > 0;
}
