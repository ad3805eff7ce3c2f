import { sql, type UpdateObject } from 'kysely';
import type { Query, SystemDatabase } from '../../db/database.ts';
import { milliseconds, now } from '../../db/sql.ts';
import { changeState, inStates } from '../../db/state-change.ts';
import { asJson } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import {
  type ProviderBatchStatus,
  providerBatchStates,
  UNFINISHED_PROVIDER_BATCH,
} from '../../domain/batches/provider-batch-states.ts';
import type { BatchState } from '../../models/batches/batched-models.ts';
import { SIGNAL_PENDING } from '../evaluations/evaluations.ts';
import { type LoadedBatch, maxWaitMs } from './load-batch.ts';

type Columns = UpdateObject<Tables, 'provider_batches'>;

/** Why a batch is in its state, for people. */
export interface BatchError {
  code: string;
  message: string;
}

/**
 * Changes a batch's state and marks its run as having news. The workflow reads the news when it is signaled, or at the next reconciliation.
 * @param mayRun only if the run is active in the batch's round
 * @returns whether the batch was in one of those states
 */
async function change(
  db: SystemDatabase,
  batch: LoadedBatch,
  to: ProviderBatchStatus,
  from: readonly ProviderBatchStatus[],
  columns: Columns,
  { mayRun = false }: { mayRun?: boolean } = {},
): Promise<boolean> {
  const state = changeState(providerBatchStates, { to, from });
  return db.transaction(async (query) => {
    // Locks rows in the same order as other code.
    const [run] = await query((all) =>
      all.selectFrom('evaluations').select(['status', 'retries']).where('id', '=', batch.evaluationId).forUpdate(),
    );
    if (run === undefined || (mayRun && (run.status !== 'running' || run.retries !== batch.round))) return false;
    const changed = await query((all) =>
      all
        .updateTable('provider_batches')
        .set({ ...columns, ...state.set })
        .where('id', '=', batch.id)
        .where(state.where)
        .returning('id'),
    );
    if (changed.length > 0)
      await query((all) => all.updateTable('evaluations').set(SIGNAL_PENDING).where('id', '=', batch.evaluationId));
    return changed.length > 0;
  });
}

/** The batch to submit. */
export interface Submission {
  items: number;
  /** Exclusive: the first example that this batch does not contain and a later batch can. */
  seqTo: number;
  reservedUsd: number;
}

/** Records the intent to submit, before the provider is called. @returns false if the run was paused or has ended in the meantime */
export const beginSubmission = (db: SystemDatabase, batch: LoadedBatch, given: Submission): Promise<boolean> =>
  change(
    db,
    batch,
    'submitting',
    ['preparing'],
    {
      submissions: sql<number>`submissions + 1`,
      items: given.items,
      seq_to: given.seqTo,
      reserved_cost: String(given.reservedUsd),
      next_poll_at: null,
    },
    { mayRun: true },
  );

const columnsOf = ({ providerBatchId, providerStatus, counts, expiresAt, files }: BatchState): Columns => ({
  provider_batch_id: providerBatchId,
  provider_status: providerStatus,
  counts: counts === null ? null : asJson(counts),
  ...(expiresAt !== null && { expires_at: expiresAt }),
  // Files of earlier submissions are kept until the end.
  files: sql<string[]>`(select coalesce(array_agg(distinct f), '{}') from unnest(files || ${files}::text[]) as f)`,
});

/** Records that the provider has the batch. */
export const markSubmitted = (db: SystemDatabase, batch: LoadedBatch, state: BatchState): Promise<boolean> => {
  const submittedAt = state.submittedAt ?? new Date();
  return change(db, batch, 'in_progress', ['submitting', 'unknown'], {
    ...columnsOf(state),
    submitted_at: submittedAt,
    give_up_at: new Date(submittedAt.getTime() + maxWaitMs(batch)),
    error: null,
  });
};

/**
 * Records that the provider certainly does not have the batch, or refused it without running anything.
 * @param error why it waits, and for how long (`afterMs`); undefined: it can be submitted again immediately
 */
export const prepareAgain = (
  db: SystemDatabase,
  batch: LoadedBatch,
  refusal?: { error: BatchError; afterMs: number },
): Promise<boolean> =>
  change(db, batch, 'preparing', ['submitting', 'in_progress'], {
    provider_batch_id: null,
    ...(refusal && {
      error: asJson(refusal.error),
      next_poll_at: sql<Date>`now() + ${milliseconds(refusal.afterMs)}`,
    }),
  });

/** Records that it is unknown whether the provider has the batch. */
export const markUnknown = (db: SystemDatabase, batch: LoadedBatch, error: BatchError): Promise<boolean> =>
  change(db, batch, 'unknown', ['submitting'], { error: asJson(error) });

export const beginSettling = (db: SystemDatabase, batch: LoadedBatch, state?: BatchState): Promise<boolean> =>
  change(db, batch, 'settling', ['in_progress'], { ...(state && columnsOf(state)), next_poll_at: null });

/** @param columns additional columns, such as the error of a failed batch */
export const endBatch = (
  db: SystemDatabase,
  batch: LoadedBatch,
  to: 'completed' | 'failed' | 'expired' | 'canceled',
  { error, ...columns }: Omit<Columns, 'error'> & { error?: BatchError | null } = {},
): Promise<boolean> =>
  change(
    db,
    batch,
    to,
    UNFINISHED_PROVIDER_BATCH.filter((from) => (providerBatchStates.transitions[from] as string[]).includes(to)),
    { ...columns, error: error ? asJson(error) : null, next_poll_at: null, finished_at: now },
  );

/** Withdraws a batch that was not submitted, which frees its range again. */
export const withdrawBatch = (db: SystemDatabase, batch: LoadedBatch): Promise<boolean> =>
  endBatch(db, batch, 'canceled', { items: 0, seq_to: batch.from, error: null });

/** Records the result of a poll of the provider, and when to poll next. @param error why the poll failed */
export async function recordPoll(
  query: Query,
  { id }: LoadedBatch,
  nextMs: number,
  { state, error }: { state?: BatchState; error?: BatchError },
): Promise<void> {
  await query((db) =>
    db
      .updateTable('provider_batches')
      .set({
        ...(state && columnsOf(state)),
        error: error ? asJson(error) : null,
        next_poll_at: sql<Date>`now() + ${milliseconds(nextMs)}`,
      })
      .where('id', '=', id)
      .where(inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH)),
  );
}

/** Requests cancellation of the batch. Safe to repeat. */
export async function requestCancel(query: Query, id: string): Promise<void> {
  await query((db) =>
    db
      .updateTable('provider_batches')
      .set({ cancel_requested: true, give_up_at: sql<Date>`least(give_up_at, now())` })
      .where('id', '=', id)
      .where('cancel_requested', '=', false)
      .where(inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH)),
  );
}
