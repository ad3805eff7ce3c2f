import type { SystemDatabase } from '../db/database.ts';
import { BATCH_ROWS, deleteInBatches, pause } from '../db/delete-in-batches.ts';
import { TRASH_WORKSPACE } from '../db/trash.ts';
import { ENDED_EVALUATION, evaluationStates } from '../domain/evaluation-states.ts';
import { executionStates } from '../domain/execution-states.ts';
import { idsOfSpan } from '../domain/ids.ts';

/** No id of what ended before then is as large. */
const firstIdAfter = (retentionMs: number) => idsOfSpan(undefined, new Date(Date.now() - retentionMs)).to;

/** Deletes executions that ended longer ago than `retentionMs`. */
export async function expireExecutions(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  await deleteInBatches(
    db.query,
    {
      table: 'executions',
      where: `id < $1 and finished_at < now() - make_interval(secs => $2) and ${executionStates.in(executionStates.final)}`,
      values: [firstIdAfter(retentionMs), retentionMs / 1_000],
      bytes: 'bytes',
      byId: true,
    },
    signal,
  );
}

const EXPIRE_EVALUATIONS = {
  text: `update evaluations set workspace_id = '${TRASH_WORKSPACE}' where id in (
           select id from evaluations
           where id < $1 and id > $3 and finished_at < now() - make_interval(secs => $2)
             and ${evaluationStates.in(ENDED_EVALUATION)} and workspace_id <> '${TRASH_WORKSPACE}'
           order by id limit ${BATCH_ROWS} for update skip locked)
         returning id`,
};

/** Deletes evaluations that ended longer ago than `retentionMs`: out of sight at once, their results later. */
export async function expireEvaluations(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  let last = TRASH_WORKSPACE;
  while (!signal.aborted) {
    const moved = await db.query<{ id: string }>(EXPIRE_EVALUATIONS, [
      firstIdAfter(retentionMs),
      retentionMs / 1_000,
      last,
    ]);
    if (moved.length === 0) return;
    for (const { id } of moved) if (id > last) last = id;
    await pause(signal);
  }
}
