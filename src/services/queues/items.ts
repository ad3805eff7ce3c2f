import { type Selectable, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import type { ItemState, ReviewCorrection } from '../../domain/queues/queue.ts';
import type { HolderId } from '../members/holder.ts';
import { findQueue, type QueueColumns, stateOf } from './queues.ts';

/** The columns of an item's subject, and of the other subject of a pair. */
export const ITEM_SUBJECT = [
  'execution_id',
  'evaluation_id',
  'example_id',
  'trace_id',
  'span_id',
  'other_execution_id',
  'other_evaluation_id',
] as const;

const COLUMNS = [
  'i.id',
  ...ITEM_SUBJECT.map((column) => `i.${column}` as const),
  'i.completed',
  'i.skipped',
  'i.completed_at',
  'i.created_at',
] as const;

export const selectItems = (db: Builder) =>
  db
    .selectFrom('queue_items as i')
    .select(COLUMNS)
    .select((eb) => stateOf(eb).as('state'));

type ItemColumns = Pick<
  Selectable<Tables['queue_items']>,
  'id' | (typeof ITEM_SUBJECT)[number] | 'completed' | 'skipped' | 'completed_at' | 'created_at'
> & { state: ItemState };

/** The outcome of an item for one reviewer. */
export interface ReviewRow {
  item_id: string;
  reviewer: string;
  outcome: 'completed' | 'skipped' | null;
  leased_until: Date;
  ended_at: Date | null;
  correction: ReviewCorrection | null;
}

/** An item with reviews: all of them, or only the caller's. */
export type ItemRow = ItemColumns & { reviews: ReviewRow[] };

/** The maximum number of reviews shown for an item. */
const MAX_SHOWN_REVIEWS = 20;

async function withReviews(query: Query, items: ItemColumns[], reviewer?: HolderId): Promise<ItemRow[]> {
  const ids = items.map(({ id }) => id);
  const reviews =
    ids.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('queue_reviews')
            .select(['item_id', 'reviewer', 'outcome', 'leased_until', 'ended_at', 'correction'])
            .where(sql<boolean>`item_id = any(${ids}::uuid[])`)
            .where((eb) => eb.or([eb('outcome', 'is not', null), eb('leased_until', '>', now)]))
            .where((eb) => eb.and(given(reviewer, (one) => eb('reviewer', '=', one))))
            .orderBy('item_id')
            .orderBy('ended_at')
            .orderBy('reviewer'),
        );
  const byItem = Map.groupBy(reviews, (review) => review.item_id);
  return items.map((item) => ({ ...item, reviews: (byItem.get(item.id) ?? []).slice(0, MAX_SHOWN_REVIEWS) }));
}

/** Items of a queue in the order in which they were added: a page of at most `limit` after the id `after`. @throws ApiError `not_found` */
export async function listItems(
  { query }: Pick<WorkspaceDatabase, 'query'>,
  name: string,
  { state, after, limit }: { state: ItemState | undefined; after: string | undefined; limit: number },
): Promise<Page<ItemRow>> {
  const { id } = await findQueue(query, name);
  const { rows, more } = await selectPage(
    query,
    {
      select: (db) =>
        selectItems(db)
          .where('i.queue_id', '=', id)
          .where((eb) =>
            eb.and([
              ...given(state, (wanted) => eb(stateOf(eb), '=', wanted)),
              ...given(after, (last) => eb('i.id', '>', last)),
            ]),
          ),
      orderBy: [['id', 'asc']],
      bytes: () => sql<number>`coalesce(octet_length(example_id), 0) + 500`,
    },
    limit,
  );
  return { rows: await withReviews(query, rows), more };
}

/** An item, with the review of this reviewer. @throws ApiError `not_found` */
export async function getItem(query: Query, queue: QueueColumns, id: string, reviewer: HolderId): Promise<ItemRow> {
  const rows = await query((db) => selectItems(db).where('i.queue_id', '=', queue.id).where('i.id', '=', id));
  const [item] = await withReviews(query, rows, reviewer);
  if (item === undefined) throw notFound(`This item of the queue "${queue.name}"`);
  return item;
}
