import { type SqlBool, sql } from 'kysely';
import { PASS_AUDIT_GUARD } from '../db/audit-guard.ts';
import { claim } from '../db/claim.ts';
import type { SystemDatabase } from '../db/database.ts';
import { BATCH_ROWS, deleteInBatches, FIRST_ID, pause, type RowsToDelete, toDelete } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { inStates } from '../db/state-change.ts';
import { OWNER, TRASH_WORKSPACE } from '../db/trash.ts';
import { ENDED_EVALUATION, evaluationStates } from '../domain/evaluations/evaluation-states.ts';
import { executionStates } from '../domain/execution-states.ts';
import { idsOfSpan } from '../domain/ids.ts';
import { hasUnfinishedBatches } from '../services/batches/other-batches.ts';

/** The smallest id of rows that are not expired: everything that ended before then has a smaller one. */
const firstIdAfter = (retentionMs: number) => idsOfSpan(undefined, new Date(Date.now() - retentionMs)).to;

/** Rows created longer ago than `retentionMs`. */
export const olderThan = (table: 'notifications' | 'monitor_changes', retentionMs: number): RowsToDelete =>
  toDelete(table, (eb) => ({
    where: eb.and([eb('id', '<', firstIdAfter(retentionMs)), eb('created_at', '<', ago(retentionMs))]),
    byId: true,
  }));

/** Rows that are deleted with an execution and may be far larger. */
const WITH_EXECUTIONS = ['scores', 'queue_items', 'rule_judgements'] as const;

/** Deletes executions that ended longer ago than `retentionMs`, after the rows that belong to them, in small steps. */
export async function expireExecutions(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  const before = firstIdAfter(retentionMs);
  let last = FIRST_ID;
  while (!signal.aborted) {
    const found = await db.query((all) =>
      all
        .selectFrom('executions')
        .select('id')
        .where('id', '>', last)
        .where('id', '<', before)
        .where('finished_at', '<', ago(retentionMs))
        .where(inStates(executionStates, executionStates.final))
        .orderBy('id')
        .limit(BATCH_ROWS),
    );
    const ids = found.map(({ id }) => id);
    const end = ids.at(-1);
    if (end === undefined) return;
    // raw SQL: pairs, because an index of scores starts with the workspace.
    const ofThese = sql<SqlBool>`(workspace_id, execution_id) in (select e.workspace_id, e.id from executions as e where e.id = any(${ids}::uuid[]))`;
    for (const table of WITH_EXECUTIONS)
      await deleteInBatches(
        db.query,
        toDelete(table, () => ({ where: ofThese })),
        signal,
      );
    const expired = toDelete('executions', (eb) => ({
      where: sql<SqlBool>`id = any(${ids}::uuid[])`,
      bytes: eb.ref('bytes'),
      byId: true,
    }));
    await deleteInBatches(db.query, expired, signal);
    last = end;
  }
}

/** Deletes entries of the audit log that are older than `retentionMs`. */
export async function expireAuditLog(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  const expired = toDelete('audit_log', (eb) => ({
    where: eb.and([
      eb('id', '<', firstIdAfter(retentionMs)),
      eb('created_at', '<', ago(retentionMs)),
      PASS_AUDIT_GUARD,
    ]),
    byId: true,
  }));
  await deleteInBatches(db.query, expired, signal);
}

/** Deletes evaluations that ended longer ago than `retentionMs`: hides them immediately, and deletes their results later. */
export async function expireEvaluations(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  let last = TRASH_WORKSPACE;
  while (!signal.aborted) {
    const moved = await db.query((all) =>
      all
        .updateTable('evaluations')
        .set(OWNER, TRASH_WORKSPACE)
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('evaluations')
            .select('id')
            .where('id', '<', firstIdAfter(retentionMs))
            .where('id', '>', last)
            .where('finished_at', '<', ago(retentionMs))
            .where(inStates(evaluationStates, ENDED_EVALUATION))
            .where('workspace_id', '<>', TRASH_WORKSPACE)
            .where((eb) => eb.not(hasUnfinishedBatches()))
            .orderBy('id')
            .$call(claim(BATCH_ROWS)),
        )
        .returning('id'),
    );
    if (moved.length === 0) return;
    for (const { id } of moved) if (id > last) last = id;
    await pause(signal);
  }
}
