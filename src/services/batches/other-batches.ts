import { expressionBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import type { Tables } from '../../db/tables.ts';
import { providerBatchStates, UNFINISHED_PROVIDER_BATCH } from '../../domain/batches/provider-batch-states.ts';
import type { LoadedBatch } from './load-batch.ts';

/**
 * Whether an evaluation has batches that providers may still process, for a statement across workspaces on `evaluations`. Their
 * cost is still unknown, and their files at the provider are still to be deleted.
 */
export const hasUnfinishedBatches = () => {
  const eb = expressionBuilder<Tables, 'evaluations'>();
  return eb.exists(
    eb
      .selectFrom('provider_batches as b')
      .select('b.id')
      .whereRef('b.evaluation_id', '=', 'evaluations.id')
      .where(inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH, 'b')),
  );
};

type Batch = Pick<LoadedBatch, 'id' | 'evaluationId' | 'provider'>;

/** The maximum cost of the other unfinished batches of a run, in US dollars, and their number of calls. */
export async function heldByOthers(query: Query, { id, evaluationId }: Batch): Promise<{ usd: number; calls: number }> {
  const [row] = await query((db) =>
    db
      .selectFrom('provider_batches')
      .select(sql<number>`coalesce(sum(reserved_cost), 0)::float8`.as('usd'))
      .select(sql<number>`coalesce(sum(items), 0)::int`.as('calls'))
      .where('evaluation_id', '=', evaluationId)
      .where('id', '<>', id)
      .where(inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH)),
  );
  return row ?? { usd: 0, calls: 0 };
}

/** Whether a batch at a provider is already known as another batch. */
export async function isKnownBatch(query: Query, { id, provider }: Batch, providerBatchId: string): Promise<boolean> {
  const rows = await query((db) =>
    db
      .selectFrom('provider_batches')
      .select('id')
      .where('provider', '=', provider)
      .where('provider_batch_id', '=', providerBatchId)
      .where('id', '<>', id)
      .limit(1),
  );
  return rows.length > 0;
}
