import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import { asJson, type Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { type ItemState, MAX_QUEUES } from '../../domain/queues/queue.ts';
import { hasValues } from '../audit/has-values.ts';
import { recordChange } from '../audit/record-change.ts';
import type { ExecutionFilter } from '../executions/filter.ts';

const COLUMNS = [
  'id',
  'name',
  'description',
  'score_names',
  'filter',
  'sample_rate',
  'reviewers_per_item',
  'created_at',
  'updated_at',
] as const;
export type QueueColumns = Omit<Pick<Selectable<Tables['queues']>, (typeof COLUMNS)[number]>, 'filter'> & {
  filter: ExecutionFilter | null;
};

/** How many items are in each state. */
export type QueueProgress = Record<ItemState, number>;
export type QueueRow = QueueColumns & { progress: QueueProgress };

/** What a caller says of a queue. */
export interface QueueSettings {
  description: string | null;
  scoreNames: string[];
  filter: ExecutionFilter | null;
  sampleRate: number;
  reviewersPerItem: number;
}

const select = (db: Builder) =>
  db.selectFrom('queues').select(COLUMNS).$narrowType<{ filter: ExecutionFilter | null }>();

/** Whether somebody holds the item `i`. */
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
export async function findQueue(query: Query, name: string): Promise<QueueColumns> {
  const [row] = await query((db) => select(db).where('name', '=', name));
  if (row === undefined) throw notFound(`The queue "${name}"`);
  return row;
}

/** @throws ApiError `not_found` */
export async function getQueue(query: Query, name: string): Promise<QueueRow> {
  const [row] = await withProgress(query, [await findQueue(query, name)]);
  if (row === undefined) throw notFound(`The queue "${name}"`);
  return row;
}

/** Queues in order of name: a page of at most `limit` after the name `after`. */
export async function listQueues(query: Query, limit: number, after: string | undefined): Promise<Page<QueueRow>> {
  const { rows, more } = await selectPage(
    query,
    {
      select: (db) => select(db).where((eb) => eb.and(given(after, (name) => eb('name', '>', name)))),
      orderBy: [['name', 'asc']],
      bytes: () =>
        sql<number>`pg_column_size(score_names) + coalesce(pg_column_size(filter), 0) + coalesce(octet_length(description), 0)`,
    },
    limit,
  );
  return { rows: await withProgress(query, rows), more };
}

/**
 * Makes a queue, or changes all settings of the one of this name. Its items stay.
 * @throws ApiError `quota_exceeded`
 */
export async function putQueue(db: WorkspaceDatabase, name: string, settings: QueueSettings): Promise<QueueRow> {
  return db.transaction(async (query) => {
    await lockInWorkspace(query, 'queues');
    const [before] = await query((own) => select(own).where('name', '=', name));
    const values = {
      description: settings.description,
      score_names: settings.scoreNames,
      filter: settings.filter,
      sample_rate: settings.sampleRate,
      reviewers_per_item: settings.reviewersPerItem,
    };
    if (before !== undefined && hasValues(before, values)) return getQueue(query, name);
    const filter = settings.filter === null ? null : asJson(settings.filter);
    const columns = { ...values, filter, updated_at: now };
    if (before === undefined) {
      await query((own) => own.insertInto('queues').values({ id: newId(), name, created_at: now, ...columns }));
      await requireRoom(query);
    } else {
      await query((own) => own.updateTable('queues').set(columns).where('id', '=', before.id));
      if (before.reviewers_per_item !== settings.reviewersPerItem)
        await completeAgain(query, before.id, settings.reviewersPerItem);
    }
    await recordChange(query, before === undefined ? 'queue.created' : 'queue.updated', name, {
      score_names: settings.scoreNames.length,
      sample_rate: settings.sampleRate,
      reviewers_per_item: settings.reviewersPerItem,
    });
    return getQueue(query, name);
  });
}

async function requireRoom(query: Query): Promise<void> {
  const [row] = await query((db) => db.selectFrom('queues').select((eb) => eb.fn.countAll<number>().as('count')));
  if ((row?.count ?? 0) > MAX_QUEUES)
    throw new ApiError(
      'quota_exceeded',
      `A workspace can have at most ${MAX_QUEUES} queues: delete one that is not needed any more.`,
    );
}

/** Items are complete by the new number of reviewers, or are not any more. */
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
 * Deletes a queue with its items. Scores stay, and so do datasets.
 * @returns it as it was
 * @throws ApiError `not_found`
 */
export async function deleteQueue(db: WorkspaceDatabase, name: string): Promise<QueueRow> {
  return db.transaction(async (query) => {
    const row = await getQueue(query, name);
    const [deleted] = await query((own) => own.deleteFrom('queues').where('id', '=', row.id).returning('id'));
    // Another request was faster.
    if (deleted === undefined) throw notFound(`The queue "${name}"`);
    await recordChange(query, 'queue.deleted', name);
    return row;
  });
}

/** Queues that executions enter by themselves, with their filters. */
export async function filteredQueues(query: Query): Promise<(QueueColumns & { filter: ExecutionFilter })[]> {
  const rows = await query((db) => select(db).where('filter', 'is not', null).orderBy('id'));
  return rows.flatMap(({ filter, ...row }) => (filter === null ? [] : [{ ...row, filter }]));
}
