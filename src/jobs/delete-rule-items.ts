import { type Expression, type ExpressionBuilder, sql } from 'kysely';
import { distinctKeys } from '../db/claim.ts';
import type { SystemDatabase } from '../db/database.ts';
import { deleteInBatches, toDelete } from '../db/delete-in-batches.ts';
import { inStates } from '../db/state-change.ts';
import { prepared } from '../db/statement.ts';
import type { Tables } from '../db/tables.ts';
import { backfillStates } from '../domain/rules/backfill-states.ts';

/** Whether its rule is disabled or gone, or its backfill has ended. @param work the id of the rule or backfill */
const isOver = (eb: ExpressionBuilder<Tables, never>, work: Expression<string>) =>
  eb.not(
    eb.or([
      eb.exists(
        eb.selectFrom('rules as r').select('r.id').where('r.id', '=', work).where('r.enabled', '=', sql.lit(true)),
      ),
      eb.exists(
        eb
          .selectFrom('rule_backfills as b')
          .select('b.id')
          .where('b.id', '=', work)
          .where(inStates(backfillStates, ['running', 'paused'], 'b')),
      ),
    ]),
  );

const ORPHANED = prepared()((db) =>
  distinctKeys(db, 'rule_items', ['workspace_id', 'work_id'])
    .selectFrom('found')
    .select(['found.workspace_id', 'found.work_id as id'])
    .where((eb) => isOver(eb as unknown as ExpressionBuilder<Tables, never>, sql.ref<string>('found.work_id'))),
);

/**
 * Deletes items that belong to no active rule or backfill, in small steps. Safe to run in several processes at once.
 * @param signal stops after the current step
 */
export async function deleteRuleItems({ query }: Pick<SystemDatabase, 'query'>, signal: AbortSignal): Promise<void> {
  const orphaned = await query(ORPHANED, {});
  for (const { workspace_id: workspaceId, id } of orphaned) {
    if (signal.aborted) return;
    const items = toDelete('rule_items', (eb) => ({
      where: eb.and([
        eb('workspace_id', '=', workspaceId),
        eb('work_id', '=', id),
        // A rule may be enabled again in the meantime.
        isOver(eb as unknown as ExpressionBuilder<Tables, never>, sql<string>`${id}::uuid`),
      ]),
    }));
    await deleteInBatches(query, items, signal);
  }
}
