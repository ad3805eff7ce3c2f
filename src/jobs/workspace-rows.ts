import { type SqlBool, sql } from 'kysely';
import { PASS_AUDIT_GUARD } from '../db/audit-guard.ts';
import type { Query } from '../db/database.ts';
import { BATCH_ROWS, type Doomed, doomed } from '../db/delete-in-batches.ts';
import { inStates } from '../db/state-change.ts';
import { OWNER, TRASH_WORKSPACE } from '../db/trash.ts';
import { ENDED_EVALUATION, evaluationStates } from '../domain/evaluations/evaluation-states.ts';
import { executionStates } from '../domain/execution-states.ts';
import { releaseStates } from '../domain/releases/release-states.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/webhooks/delivery-states.ts';
import { hasUnfinishedBatches } from '../services/batches/other-batches.ts';

/** Of the workspace that the statement is bound to. */
const everyRow = { where: sql<SqlBool>`true` };

/** What is deleted as it is, in this order; what refers to others goes before them. Each has an index that begins with the workspace, or few rows. */
export const ROWS: readonly Doomed[] = [
  doomed('idempotency_keys', () => ({ ...everyRow, bytes: sql<number>`coalesce(octet_length(answer), 0)` })),
  doomed('stream_deltas', () => everyRow),
  doomed('scores', (eb) => ({ ...everyRow, bytes: eb.ref('bytes'), byId: true })),
  doomed('score_definitions', () => everyRow),
  doomed('queue_reviews', () => everyRow),
  doomed('queue_items', () => everyRow),
  doomed('queues', () => everyRow),
  doomed('executions', (eb) => ({
    where: inStates(executionStates, executionStates.final),
    bytes: eb.ref('bytes'),
    byId: true,
  })),
  // Scores and executions write them, as long as there are queues.
  doomed('queue_candidates', () => everyRow),
  // Workflows are told first of deliveries that were ended.
  doomed('deliveries', (eb) => ({
    where: eb.not(eb.or([inStates(deliveryStates, UNFINISHED_DELIVERY), eb('to_end', '=', true)])),
  })),
  doomed('events', (eb) => ({
    where: eb.not(eb.exists(eb.selectFrom('deliveries as d').select('d.id').whereRef('d.event_id', '=', 'events.id'))),
    byId: true,
  })),
  doomed('notifications', () => ({ ...everyRow, byId: true })),
  doomed('prompt_includes', () => everyRow),
  doomed('prompt_versions', (eb) => ({
    where: eb('prompt_id', 'in', eb.selectFrom('prompts').select('id')),
    bytes: eb.ref('bytes'),
  })),
  doomed('prompts', () => everyRow),
  doomed('protected_labels', () => everyRow),
  doomed('label_policies', () => everyRow),
  doomed('release_entries', () => everyRow),
  doomed('release_score_entries', () => everyRow),
  doomed('release_sums', () => everyRow),
  doomed('releases', () => ({
    where: inStates(releaseStates, releaseStates.final),
    bytes: sql.ref<number>('bytes'),
    byId: true,
  })),
  doomed('monitors', () => ({ ...everyRow, byId: true })),
  doomed('monitored_workspaces', () => everyRow),
  doomed('run_minutes', () => everyRow),
  doomed('datasets', (eb) => ({
    where: eb.not(
      eb.exists(eb.selectFrom('dataset_versions as v').select('v.id').whereRef('v.dataset_id', '=', 'datasets.id')),
    ),
  })),
  doomed('saved_views', () => everyRow),
  doomed('sessions', () => everyRow),
  doomed('api_keys', () => ({ ...everyRow, byId: true })),
  doomed('members', () => ({ ...everyRow, byId: true })),
  doomed('audit_log', () => ({ where: PASS_AUDIT_GUARD, byId: true })),
  doomed('rule_items', () => everyRow),
  doomed('rule_days', () => everyRow),
  doomed('rules', () => ({ ...everyRow, bytes: sql.ref<number>('bytes') })),
  // The rows before write them as they are deleted.
  doomed('storage_entries', () => everyRow),
  doomed('storage_sums', () => everyRow),
  doomed('usage_entries', () => everyRow),
  doomed('usage_sums', () => everyRow),
  doomed('prompt_days', () => everyRow),
  doomed('statistics_progress', () => everyRow),
];

/** Moves out of sight what has many rows of its own; `sweep` deletes them. @returns how many, `BATCH_ROWS` at most */
export const TO_TRASH: ((query: Query, workspaceId: string) => Promise<unknown[]>)[] = [
  (query, workspaceId) =>
    query((db) =>
      db
        .updateTable('evaluations')
        .set(OWNER, TRASH_WORKSPACE)
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('evaluations')
            .select('id')
            .where('workspace_id', '=', workspaceId)
            .where(inStates(evaluationStates, ENDED_EVALUATION))
            .where((eb) => eb.not(hasUnfinishedBatches()))
            .orderBy('id')
            .limit(BATCH_ROWS)
            .forUpdate()
            .skipLocked(),
        )
        .returning('id'),
    ),
  (query, workspaceId) =>
    query((db) =>
      db
        .updateTable('dataset_versions')
        .set(OWNER, TRASH_WORKSPACE)
        .set({ dataset_id: null })
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('dataset_versions')
            .select('id')
            .where('workspace_id', '=', workspaceId)
            .limit(BATCH_ROWS)
            .forUpdate()
            .skipLocked(),
        )
        .returning('id'),
    ),
];

/** Whether rows are left that could not be deleted yet. @param own bound to the workspace */
export async function hasRows(own: Query): Promise<boolean> {
  const [left] = await own((db) =>
    db.selectNoFrom((eb) =>
      eb
        .or([
          eb.exists(eb.selectFrom('deliveries').select('id')),
          eb.exists(eb.selectFrom('events').select('id')),
          eb.exists(eb.selectFrom('executions').select('id')),
          // Batches of theirs are being canceled.
          eb.exists(eb.selectFrom('evaluations').select('id')),
          eb.exists(eb.selectFrom('releases').select('id')),
          eb.exists(eb.selectFrom('datasets').select('id')),
        ])
        .as('more'),
    ),
  );
  return left?.more !== false;
}
