import { type ExpressionBuilder, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { Page } from '../../db/read-page.ts';
import { now } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { type ItemState, MAX_QUEUES } from '../../domain/queues/queue.ts';
import type { ExecutionFilter } from '../executions/filter.ts';
import { namedRows, type RowIn } from '../named-rows.ts';
import type { TraceFilter } from '../traces/traces.ts';
import { requireRoom } from '../workspaces/quotas.ts';

const COLUMNS = [
  'id',
  'name',
  'description',
  'score_names',
  'filter',
  'trace_filter',
  'sample_rate',
  'reviewers_per_item',
  'created_at',
  'updated_at',
] as const;

/** The number of items in each state. */
export type QueueProgress = Record<ItemState, number>;
export type QueueRow = QueueColumns & { progress: QueueProgress };

/** The settings of a queue. */
export interface QueueSettings {
  description: string | null;
  scoreNames: string[];
  filter: ExecutionFilter | null;
  traceFilter: TraceFilter | null;
  sampleRate: number;
  reviewersPerItem: number;
}

const select = (db: Builder) =>
  db
    .selectFrom('queues')
    .select(COLUMNS)
    .$narrowType<{ filter: ExecutionFilter | null; trace_filter: TraceFilter | null }>();

const QUEUES = namedRows({
  table: 'queues',
  select,
  keys: ['name'],
  bytes: () =>
    sql<number>`pg_column_size(score_names) + coalesce(pg_column_size(filter), 0) + coalesce(pg_column_size(trace_filter), 0) + coalesce(octet_length(description), 0)`,
  what: ({ name }) => `The queue "${name}"`,
  json: ['filter', 'trace_filter'],
  audit: { created: 'queue.created', updated: 'queue.updated', deleted: 'queue.deleted' },
});
export type QueueColumns = RowIn<typeof QUEUES>;
/** @throws ApiError `not_found` */
export const findQueue = (query: Query, name: string): Promise<QueueColumns> => QUEUES.get(query, { name });

/** Whether a reviewer holds the item `i`. */
export const isLeased = (eb: ExpressionBuilder<Tables & { i: Tables['queue_items'] }, 'i'>) =>
  eb.exists(
    eb
      .selectFrom('queue_reviews as lease')
      .select('lease.item_id')
      .whereRef('lease.item_id', '=', 'i.id')
      .where('lease.outcome', 'is', null)
      .where('lease.leased_until', '>', now),
  );

/** The state of the item `i`. */
export const stateOf = (eb: ExpressionBuilder<Tables & { i: Tables['queue_items'] }, 'i'>) =>
  eb
    .case()
    .when('i.completed_at', 'is not', null)
    .then(sql.lit<ItemState>('completed'))
    .when(isLeased(eb))
    .then(sql.lit<ItemState>('leased'))
    .when('i.skipped', '>', 0)
    .then(sql.lit<ItemState>('skipped'))
    .else(sql.lit<ItemState>('pending'))
    .end();

async function withProgress(query: Query, rows: QueueColumns[]): Promise<QueueRow[]> {
  const ids = rows.map(({ id }) => id);
  const counts =
    ids.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('queue_items as i')
            .select((eb) => ['i.queue_id', stateOf(eb).as('state'), eb.fn.countAll<number>().as('count')])
            .where('i.queue_id', 'in', ids)
            .groupBy(['i.queue_id', 'state']),
        );
  return rows.map((row) => {
    const progress: QueueProgress = { pending: 0, leased: 0, completed: 0, skipped: 0 };
    for (const { queue_id: id, state, count } of counts) if (id === row.id) progress[state] = count;
    return { ...row, progress };
  });
}

/** @throws ApiError `not_found` */
export async function getQueue(query: Query, name: string): Promise<QueueRow> {
  const [row] = await withProgress(query, [await findQueue(query, name)]);
  return QUEUES.found(row, { name });
}

/** Queues in order of name: a page of at most `limit` after the name `after`. */
export async function listQueues(query: Query, limit: number, after: string | undefined): Promise<Page<QueueRow>> {
  const { rows, more } = await QUEUES.list(query, limit, after);
  return { rows: await withProgress(query, rows), more };
}

/**
 * Creates a queue, or replaces all settings of the queue of this name. Its items are kept.
 * @throws ApiError `quota_exceeded`
 */
export function putQueue(db: WorkspaceDatabase, name: string, settings: QueueSettings): Promise<QueueRow> {
  const { description, scoreNames, filter, traceFilter, sampleRate, reviewersPerItem } = settings;
  const shares = { sample_rate: sampleRate, reviewers_per_item: reviewersPerItem };
  const wanted = {
    values: { description, score_names: scoreNames, filter, trace_filter: traceFilter, ...shares },
    details: { score_names: scoreNames.length, ...shares },
  };
  return db.transaction(async (query) => {
    await QUEUES.put(query, { name }, () => wanted, {
      replaced: async ({ id, reviewers_per_item: before }) => {
        if (before !== reviewersPerItem) await completeAgain(query, id, reviewersPerItem);
      },
      created: () =>
        requireRoom(
          query,
          'queues',
          MAX_QUEUES,
          `A workspace can have at most ${MAX_QUEUES} queues: delete a queue that is no longer needed.`,
        ),
    });
    return getQueue(query, name);
  });
}

/** Recomputes which items are complete with the new number of reviewers. */
async function completeAgain(query: Query, queueId: string, reviewers: number): Promise<void> {
  await query((db) =>
    db
      .updateTable('queue_items')
      .set({ completed_at: now })
      .where('queue_id', '=', queueId)
      .where('completed', '>=', reviewers)
      .where('completed_at', 'is', null),
  );
  await query((db) =>
    db
      .updateTable('queue_items')
      .set({ completed_at: null })
      .where('queue_id', '=', queueId)
      .where('completed', '<', reviewers)
      .where('completed_at', 'is not', null),
  );
}

/**
 * Deletes a queue with its items. Scores and datasets are kept.
 * @returns it as it was
 * @throws ApiError `not_found`
 */
export const deleteQueue = (db: WorkspaceDatabase, name: string): Promise<QueueRow> =>
  db.transaction(async (query) => {
    const row = await getQueue(query, name);
    await QUEUES.delete(query, { name });
    return row;
  });

/** Queues that are filled automatically, with their filters. */
export const filteredQueues = (query: Query): Promise<QueueColumns[]> =>
  query((db) =>
    select(db)
      .where((eb) => eb.or([eb('filter', 'is not', null), eb('trace_filter', 'is not', null)]))
      .orderBy('id'),
  );
