import { type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { anyOf, arraysOf, given, now, unnestOf } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { UUID_V7 } from '../../db/uuid-v7.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import { MAX_QUEUE_ITEMS } from '../../domain/queues/queue.ts';
import { BUCKETS } from '../../domain/releases/rollout.ts';
import { type ReviewedSubject, subjectIds, subjectKey } from '../../domain/scores/score-subject.ts';
import { recordChange } from '../audit/record-change.ts';
import { type ExecutionFilter, executionConditions } from '../executions/filter.ts';
import { daysOf } from '../traces/ingest-steps.ts';
import { type TraceFilter, traceConditions } from '../traces/traces.ts';
import { ITEM_SUBJECT } from './items.ts';
import { findPairs, holdEvaluations, type ItemToAdd, type Pair, selectDiffering } from './pairs.ts';
import { findQueue } from './queues.ts';

const MAX_MISSING_SHOWN = 5;

const newItemId = sql.raw<string>(UUID_V7);

/** The items to add to a queue by hand. Ids are UUIDs. */
export interface NewItems {
  executionIds?: string[] | undefined;
  examples?: { evaluationId: string; exampleId: string }[] | undefined;
  traces?: TraceItem[] | undefined;
  /** Outputs for one input, to be compared. */
  pairs?: Pair[] | undefined;
  /** Examples of two evaluations with different outputs, as pairs: a random choice of at most `limit`. */
  compared?: { evaluationIds: readonly string[]; limit: number } | undefined;
  /** The newest that match. */
  filtered?: Filtered | undefined;
}

/** The number of items that are new in the queue, and that were already there. */
export interface AddedItems {
  added: number;
  present: number;
}

/**
 * Adds executions, examples and traces to a queue; existing items are unchanged.
 * @throws ApiError `not_found` for the queue; `invalid_request` naming what does not exist; `quota_exceeded`
 */
export async function addItems(
  db: WorkspaceDatabase,
  name: string,
  { executionIds = [], examples = [], traces = [], pairs = [], compared, filtered }: NewItems,
): Promise<AddedItems> {
  const { id, score_names: scoreNames } = await findQueue(db.query, name);
  // May examine everything, so it runs without holding a lock.
  const matching = filtered && (await selectEntering(db.heavy.query, id, filtered));
  const differing = compared && (await selectDiffering(db.heavy.query, id, compared));
  return db.transaction(async (query) => {
    // Serializes concurrent additions, so that each sees the room left by the others. Inserting an item needs only a key lock on its queue.
    const [queue] = await query((own) => own.selectFrom('queues').select('id').where('id', '=', id).forNoKeyUpdate());
    if (queue === undefined) throw notFound(`The queue "${name}"`);
    const sums: AddedItems[] = [];
    if (executionIds.length > 0) sums.push(await addExecutions(query, id, executionIds));
    if (examples.length > 0) sums.push(await addExamples(query, id, examples));
    if (traces.length > 0) sums.push(await addTraces(query, id, traces));
    const allPairs = [...pairs, ...(differing ?? [])];
    if (allPairs.length > 0) sums.push(await insert(query, id, await findPairs(query, scoreNames, allPairs)));
    if (filtered !== undefined && matching !== undefined)
      sums.push(await enterQueue(query, id, { ...filtered, ids: matching, room: MAX_QUEUE_ITEMS + 1 }));
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

/** Whether an execution or trace is in the sample, based on `bucketOf`: the same at every check. */
const isSampled = (queueId: string, sampleRate: number, id: 'executions.id' | 'traces.id') =>
  sql<SqlBool>`('x' || encode(substr(sha256(convert_to(${queueId}::text || ':' || ${sql.ref(id)}::text, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint
    % ${sql.lit(BUCKETS)} < ${sampleRate}::float8 * ${sql.lit(BUCKETS)}`;

/** Selects the executions, or the settled traces, that enter a queue. */
export type Filtered = ({ filter: ExecutionFilter } | { traceFilter: TraceFilter }) & {
  sampleRate: number;
  /** Takes the newest if more match. */
  limit: number;
};

/** Ended executions that match, newest first; only completed ones if the filter has no status. @param ids only these */
const selectExecutions = (
  db: Builder,
  queueId: string,
  { filter, sampleRate, limit }: Extract<Filtered, { filter: ExecutionFilter }>,
  ids: string[] | undefined,
) =>
  db
    .selectFrom('executions')
    .select('executions.id')
    .where((eb) =>
      eb.and([
        ...executionConditions(eb, { status: 'completed', ...filter }),
        inStates(executionStates, executionStates.final),
        ...(sampleRate < 1 ? [isSampled(queueId, sampleRate, 'executions.id')] : []),
        ...given(ids, (all) => eb('executions.id', '=', anyOf(all))),
      ]),
    )
    .orderBy('executions.id', 'desc')
    .limit(limit);

/** The same for settled traces. */
const selectTraces = (
  db: Builder,
  queueId: string,
  { traceFilter, sampleRate, limit }: Extract<Filtered, { traceFilter: TraceFilter }>,
  ids: string[] | undefined,
) =>
  db
    .selectFrom('traces')
    .select('traces.id')
    .where((eb) =>
      eb.and([
        ...traceConditions(eb, { ...traceFilter, settled: true }),
        ...(sampleRate < 1 ? [isSampled(queueId, sampleRate, 'traces.id')] : []),
        ...given(ids, (all) => eb('traces.id', '=', anyOf(all))),
      ]),
    )
    .orderBy('traces.started_at', 'desc')
    .orderBy('traces.id', 'desc')
    .limit(limit);

async function selectEntering(query: Query, queueId: string, filtered: Filtered): Promise<string[]> {
  const rows = await query((db) =>
    'filter' in filtered
      ? selectExecutions(db, queueId, filtered, undefined)
      : selectTraces(db, queueId, filtered, undefined),
  );
  return rows.map(({ id }) => id);
}

/**
 * Adds those of some executions or settled traces that match to a queue. @param ids of them @param room how many more items fit into the queue
 */
export async function enterQueue(
  query: Query,
  queueId: string,
  { ids, room, ...filtered }: Filtered & { ids: string[]; room: number },
): Promise<AddedItems> {
  if (ids.length === 0 || room <= 0) return { added: 0, present: 0 };
  const isOfTraces = 'traceFilter' in filtered;
  const found = await query((db) =>
    isOfTraces
      ? selectTraces(db, queueId, filtered, ids).forKeyShare()
      : selectExecutions(db, queueId, filtered, ids).forKeyShare(),
  );
  const column = isOfTraces ? 'trace_id' : 'execution_id';
  const there = await query((db) =>
    db
      .selectFrom('queue_items')
      .select(`${column} as id`)
      .where('queue_id', '=', queueId)
      .where(column, '=', anyOf(ids))
      .$if(isOfTraces, (items) => items.where('span_id', 'is', null)),
  );
  const present = new Set(there.map(({ id }) => id));
  const fresh = found.flatMap(({ id }) => (present.has(id) ? [] : [id])).sort();
  const { added } = await insert(
    query,
    queueId,
    fresh.slice(0, room).map((id) => (isOfTraces ? { traceId: id, spanId: null } : { executionId: id })),
  );
  return { added, present: found.length - added };
}

async function addExecutions(query: Query, queueId: string, given: string[]): Promise<AddedItems> {
  const ids = [...new Set(given)];
  const found = await query((db) =>
    db.selectFrom('executions').select('id').where('id', '=', anyOf(ids)).orderBy('id').forKeyShare(),
  );
  const known = new Set(found.map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id)).map((id) => publicId('execution', id));
  if (missing.length > 0) throw notThere('execution_ids', missing);
  return insert(
    query,
    queueId,
    ids.map((executionId) => ({ executionId })),
  );
}

type TraceItem = Extract<ReviewedSubject, { traceId: string }>;

async function addTraces(query: Query, queueId: string, all: readonly TraceItem[]): Promise<AddedItems> {
  const traces = [...new Map(all.map((one) => [subjectKey(one), one])).values()];
  const ids = [...new Set(traces.map(({ traceId }) => traceId))];
  const found = await query((db) =>
    db
      .selectFrom('traces')
      .select(['id', 'first_day', 'last_day'])
      .where('id', '=', anyOf(ids))
      .orderBy('id')
      .forKeyShare(),
  );
  const keys = arraysOf(
    traces.flatMap(({ traceId, spanId }) => (spanId === null ? [] : [{ trace: traceId, span: spanId }])),
  );
  const { first, last } = daysOf(found);
  const steps =
    keys.trace === undefined || found.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('trace_steps as s')
            .innerJoin(unnestOf('given', { trace: ['uuid', keys.trace], span: ['text', keys.span] }), (join) =>
              join.onRef('given.trace', '=', 's.trace_id').onRef('given.span', '=', 's.span_id'),
            )
            .select(['given.trace', 'given.span'])
            .where('s.day', '>=', first)
            .where('s.day', '<=', last),
        );
  const known = new Set([
    ...found.map(({ id }) => subjectKey({ traceId: id, spanId: null })),
    ...steps.map(({ trace, span }) => subjectKey({ traceId: trace, spanId: span })),
  ]);
  const missing = traces.filter((one) => !known.has(subjectKey(one)));
  if (missing.length > 0)
    throw notThere(
      'traces',
      missing.map(({ traceId, spanId }) => `${traceIdOf(traceId)}${spanId === null ? '' : ` ${spanId}`}`),
    );
  return insert(query, queueId, traces);
}

const notThere = (path: string, missing: string[]) =>
  invalidField(path, `some do not exist, among them ${missing.slice(0, MAX_MISSING_SHOWN).join(', ')}`);

async function addExamples(
  query: Query,
  queueId: string,
  given: { evaluationId: string; exampleId: string }[],
): Promise<AddedItems> {
  await holdEvaluations(
    query,
    given.map(({ evaluationId }) => evaluationId),
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
  return insert(query, queueId, examples);
}

async function insert(query: Query, queueId: string, items: readonly ItemToAdd[]): Promise<AddedItems> {
  if (items.length === 0) return { added: 0, present: 0 };
  const columns = arraysOf(
    items.map((item) => ({
      ...subjectIds(item),
      other_execution_id: item.otherExecutionId ?? null,
      other_evaluation_id: item.otherEvaluationId ?? null,
    })),
  );
  const added = await query((db) =>
    db
      .insertInto('queue_items')
      .columns(['id', 'queue_id', ...ITEM_SUBJECT, 'created_at'])
      .expression((eb) =>
        eb
          .selectFrom(
            unnestOf('given', {
              execution_id: ['uuid', columns.execution_id],
              evaluation_id: ['uuid', columns.evaluation_id],
              example_id: ['text', columns.example_id],
              trace_id: ['uuid', columns.trace_id],
              span_id: ['text', columns.span_id],
              other_execution_id: ['uuid', columns.other_execution_id],
              other_evaluation_id: ['uuid', columns.other_evaluation_id],
            }),
          )
          .select([newItemId.as('id'), sql<string>`${queueId}::uuid`.as('queue_id')])
          .select(ITEM_SUBJECT.map((column) => `given.${column}` as const))
          .select(now.as('created_at')),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning('id'),
  );
  return { added: added.length, present: items.length - added.length };
}
