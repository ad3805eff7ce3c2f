import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import { IS_WANTED } from '../acceptance/is-wanted.ts';
import { UNTOLD } from './evaluations.ts';

/** With evaluations that are withdrawn (`gone`), their inline examples and their idempotency keys. */
const DELETE_BELONGINGS = `keys as (delete from idempotency_keys k using gone
               where k.workspace_id = gone.workspace_id and k.resource_id = gone.id::text),
             inline as (delete from dataset_versions v using gone
               where v.workspace_id = gone.workspace_id and v.dataset_id is null and v.id = gone.examples_id)`;
const CANCEL = evaluationStates.change({ to: 'canceled' });

/**
 * Withdraws an evaluation whose caller is told that it failed: one that has not begun is deleted.
 * @param force also one that a caller may have been told of; one that has begun is canceled
 * @returns false where it runs, or will
 */
export async function withdrawEvaluation(db: WorkspaceDatabase, id: string, force: boolean): Promise<boolean> {
  const [row] = await db.query<{ runs: boolean }>(
    {
      text: `with gone as (
               delete from evaluations where workspace_id = $1 and id = $2 and status = 'scheduled' and (accepted_at is null or $3)
               returning id, workspace_id, examples_id
             ), ${DELETE_BELONGINGS}, canceled as (
               update evaluations set ${CANCEL.set}, finished_at = now(), ${UNTOLD}
               where workspace_id = $1 and id = $2 and status <> 'scheduled' and ${CANCEL.where} and $3 returning id
             ), canceled_keys as (
               delete from idempotency_keys k using canceled where k.workspace_id = $1 and k.resource_id = canceled.id::text)
             select not exists (select from gone) and not exists (select from canceled)
               and exists (select from evaluations where workspace_id = $1 and id = $2) as runs`,
    },
    [id, force],
  );
  return row?.runs !== true;
}

/**
 * Withdraws an evaluation that no caller was told of in time, with what belongs to it.
 * @returns whether it was withdrawn
 */
export async function withdrawUnacceptedEvaluation(query: Query, id: string): Promise<boolean> {
  const gone = await query(
    {
      text: `with gone as (
               delete from evaluations where id = $1 and status = 'scheduled' and not ${IS_WANTED}
               returning id, workspace_id, examples_id
             ), ${DELETE_BELONGINGS}
             select id from gone`,
    },
    [id],
  );
  return gone.length > 0;
}
