import { type Expression, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now, unnestOf } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { UUID_V7 } from '../../db/uuid-v7.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { publicId } from '../../domain/ids.ts';
import { MAX_QUEUE_ITEMS } from '../../domain/queues/queue.ts';
import { BUCKETS } from '../../domain/releases/rollout.ts';
import { recordChange } from '../audit/record-change.ts';
import { type ExecutionFilter, executionConditions } from '../executions/filter.ts';
import { findQueue } from './queues.ts';

const MAX_MISSING_SHOWN = 5;

const newItemId = sql.raw<string>(UUID_V7);

/** The items to add to a queue by hand. Ids are UUIDs. */
export interface NewItems {
  executionIds?: string[] | undefined;
  examples?: { evaluationId: string; exampleId: string }[] | undefined;
  /** The newest `limit` executions that match, from a sample of the share `sampleRate`. */
  filtered?: { filter: ExecutionFilter; sampleRate: number; limit: number } | undefined;
}

/** The number of items that are new in the queue, and that were already there. */
export interface AddedItems {
  added: number;
  present: number;
}

/**
 * Adds executions and examples to a queue; existing items are unchanged.
 * @throws ApiError `not_found` for the queue; `invalid_request` naming what does not exist; `quota_exceeded`
 */
export async function addItems(
  db: WorkspaceDatabase,
  name: string,
  { executionIds = [], examples = [], filtered }: NewItems,
): Promise<AddedItems> {
  const { id } = await findQueue(db.query, name);
  // May examine everything, so it runs without holding a lock.
  const matching = filtered && (await db.heavy.query((own) => selectEntering(own, id, filtered)));
  return db.transaction(async (query) => {
    // Serializes concurrent additions, so that each sees the room left by the others. Inserting an item needs only a key lock on its queue.
    const [queue] = await query((own) => own.selectFrom('queues').select('id').where('id', '=', id).forNoKeyUpdate());
    if (queue === undefined) throw notFound(`The queue "${name}"`);
    const sums: AddedItems[] = [];
    if (executionIds.length > 0) sums.push(await addExecutions(query, id, executionIds));
    if (examples.length > 0) sums.push(await addExamples(query, id, examples));
    if (filtered !== undefined && matching !== undefined) {
      const ids = matching.map((row) => row.id);
      sums.push(await enterQueue(query, id, { ...filtered, ids, room: MAX_QUEUE_ITEMS + 1 }));
    }
    if ((await roomOf(query, id)) < 0)
      throw new ApiError(
        'quota_exceeded',
        `A queue can have at most ${MAX_QUEUE_ITEMS} items: make another one, or delete this one once its work is done. Scores stay.`,
      );
    const sum = (of: keyof AddedItems) => sums.reduce((total, each) => total + each[of], 0);
    const added = { added: sum('added'), present: sum('present') };
    if (added.added > 0) await recordChange(query, 'queue.items_added', name, { added: added.added });
    return added;
  });
}

/** How many more items a queue can have; negative if it has too many. */
export async function roomOf(query: Query, queueId: string): Promise<number> {
  const [row] = await query((db) =>
    db
      .selectFrom('queue_items')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('queue_id', '=', queueId),
  );
  return MAX_QUEUE_ITEMS - (row?.count ?? 0);
}

/** Whether an execution is in the sample, based on `bucketOf`: the same at every check. */
const isSampled = (queueId: string, sampleRate: number) =>
  sql<SqlBool>`('x' || encode(substr(sha256(convert_to(${queueId}::text || ':' || ${sql.ref('executions.id')}::text, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint
    % ${sql.lit(BUCKETS)} < ${sampleRate}::float8 * ${sql.lit(BUCKETS)}`;

/** Selects the executions that enter a queue. */
export interface Entering {
  filter: ExecutionFilter;
  sampleRate: number;
  /** Takes the newest executions if more match. */
  limit: number;
  /** Only executions with these ids. */
  ids: string[];
  /** How many more items fit into the queue. */
  room: number;
}

/** Ended executions that match, newest first; only completed ones if the filter has no status. */
const selectEntering = (
  db: Builder,
  queueId: string,
  { filter, sampleRate, limit, ids }: Omit<Entering, 'ids' | 'room'> & { ids?: string[] },
) =>
  db
    .selectFrom('executions')
    .select('executions.id')
    .where((eb) => {
      const conditions: Expression<SqlBool>[] = [
        ...executionConditions(eb, { status: 'completed', ...filter }),
        inStates(executionStates, executionStates.final),
      ];
      if (sampleRate < 1) conditions.push(isSampled(queueId, sampleRate));
      if (ids !== undefined) conditions.push(sql<SqlBool>`${sql.ref('executions.id')} = any(${ids}::uuid[])`);
      return eb.and(conditions);
    })
    .orderBy('executions.id', 'desc')
    .limit(limit);

/** Adds ended executions that match to a queue; only completed ones if the filter has no status. */
export async function enterQueue(query: Query, queueId: string, { room, ...entering }: Entering): Promise<AddedItems> {
  const [counted] = await query((db) =>
    db
      .with('found', () => selectEntering(db, queueId, entering).forKeyShare())
      .with('new', (cte) =>
        cte
          .selectFrom('found')
          .select('found.id')
          .where((eb) =>
            eb.not(
              eb.exists(
                eb
                  .selectFrom('queue_items as i')
                  .select('i.id')
                  .where('i.queue_id', '=', queueId)
                  .whereRef('i.execution_id', '=', 'found.id'),
              ),
            ),
          )
          .orderBy('found.id')
          .limit(Math.max(0, room)),
      )
      .with('added', (cte) =>
        cte
          .insertInto('queue_items')
          .columns(['id', 'queue_id', 'execution_id', 'created_at'])
          .expression((eb) =>
            eb
              .selectFrom('new')
              .select([newItemId.as('id'), sql<string>`${queueId}::uuid`.as('queue_id'), 'new.id as execution_id'])
              .select(now.as('created_at')),
          )
          .onConflict((conflict) => conflict.doNothing())
          .returning('id'),
      )
      .selectNoFrom((eb) => [
        eb
          .selectFrom('found')
          .select((of) => of.fn.countAll<number>().as('count'))
          .as('found'),
        eb
          .selectFrom('added')
          .select((of) => of.fn.countAll<number>().as('count'))
          .as('added'),
      ]),
  );
  const added = counted?.added ?? 0;
  return { added, present: (counted?.found ?? 0) - added };
}

async function addExecutions(query: Query, queueId: string, given: string[]): Promise<AddedItems> {
  const ids = [...new Set(given)];
  const found = await query((db) =>
    db.selectFrom('executions').select('id').where(sql<boolean>`id = any(${ids}::uuid[])`).orderBy('id').forKeyShare(),
  );
  const known = new Set(found.map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id)).map((id) => publicId('execution', id));
  if (missing.length > 0) throw notThere('execution_ids', missing);
  return insert(
    query,
    queueId,
    {
      execution_id: ['uuid', ids],
      evaluation_id: ['uuid', ids.map(() => null)],
      example_id: ['text', ids.map(() => null)],
    },
    ids.length,
  );
}

const notThere = (path: string, missing: string[]) =>
  invalidField(path, `some do not exist, among them ${missing.slice(0, MAX_MISSING_SHOWN).join(', ')}`);

async function addExamples(
  query: Query,
  queueId: string,
  given: { evaluationId: string; exampleId: string }[],
): Promise<AddedItems> {
  const evaluationIds = [...new Set(given.map(({ evaluationId }) => evaluationId))];
  // Locked until the transaction ends.
  await query((db) =>
    db
      .selectFrom('evaluations')
      .select('id')
      .where(sql<boolean>`id = any(${evaluationIds}::uuid[])`)
      .orderBy('id')
      .forKeyShare(),
  );
  const examples = [...new Map(given.map((one) => [`${one.evaluationId} ${one.exampleId}`, one])).values()];
  const keys = {
    evaluation_id: ['uuid', examples.map(({ evaluationId }) => evaluationId)],
    example_id: ['text', examples.map(({ exampleId }) => exampleId)],
  } as const;
  const found = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .innerJoin(unnestOf('given', keys), (join) =>
        join.onRef('given.evaluation_id', '=', 'e.id').onRef('given.example_id', '=', 'r.example_key'),
      )
      .select(['given.evaluation_id', 'given.example_id'])
      .where('r.status', '=', 'scored'),
  );
  const known = new Set(found.map(({ evaluation_id: id, example_id: key }) => `${id} ${key}`));
  const missing = examples.filter((one) => !known.has(`${one.evaluationId} ${one.exampleId}`));
  if (missing.length > 0)
    throw notThere(
      'examples',
      missing.map(({ evaluationId, exampleId }) => `"${exampleId}" of ${publicId('evaluation', evaluationId)}`),
    );
  return insert(query, queueId, { execution_id: ['uuid', examples.map(() => null)], ...keys }, examples.length);
}

interface ItemArrays {
  execution_id: readonly ['uuid', (string | null)[]];
  evaluation_id: readonly ['uuid', (string | null)[]];
  example_id: readonly ['text', (string | null)[]];
}

async function insert(query: Query, queueId: string, arrays: ItemArrays, total: number): Promise<AddedItems> {
  const added = await query((db) =>
    db
      .insertInto('queue_items')
      .columns(['id', 'queue_id', 'execution_id', 'evaluation_id', 'example_id', 'created_at'])
      .expression((eb) =>
        eb
          .selectFrom(
            unnestOf('given', {
              execution_id: arrays.execution_id,
              evaluation_id: arrays.evaluation_id,
              example_id: arrays.example_id,
            }),
          )
          .select([newItemId.as('id'), sql<string>`${queueId}::uuid`.as('queue_id')])
          .select(['given.execution_id', 'given.evaluation_id', 'given.example_id'])
          .select(now.as('created_at')),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning('id'),
  );
  return { added: added.length, present: total - added.length };
}
