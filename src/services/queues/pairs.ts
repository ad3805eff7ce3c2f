import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { anyOf, arraysOf, unnestOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { invalidField } from '../../domain/errors.ts';
import { laterFirst } from '../../domain/queues/pair.ts';
import { type ReviewedSubject, subjectKey } from '../../domain/scores/score-subject.ts';
import { getEvaluation } from '../evaluations/evaluations.ts';
import { findScoreDefinitions } from '../scores/definitions.ts';

/** Two executions, or two evaluations with an example of both. In any order. */
export type Pair = { executionIds: readonly string[] } | { evaluationIds: readonly string[]; exampleId: string };

/** An item with what its subject is compared with. */
export type ItemToAdd = ReviewedSubject & { otherExecutionId?: string; otherEvaluationId?: string };
const pairKey = (item: ItemToAdd) => JSON.stringify([subjectKey(item), item.otherExecutionId, item.otherEvaluationId]);

/** Locks evaluations until the transaction ends. */
export const holdEvaluations = (query: Query, ids: readonly string[]) =>
  query((db) => db.selectFrom('evaluations').select('id').where('id', '=', anyOf(ids)).orderBy('id').forKeyShare());

function toItem(pair: Pair): ItemToAdd {
  if ('executionIds' in pair) {
    const [executionId, otherExecutionId] = laterFirst(pair.executionIds);
    return { executionId, otherExecutionId };
  }
  const [evaluationId, otherEvaluationId] = laterFirst(pair.evaluationIds);
  return { evaluationId, exampleId: pair.exampleId, otherEvaluationId };
}

/** Whether two rows have different outputs for one input. Executions without variables have it in their messages. */
const ONE_INPUT = sql<SqlBool>`${sql.ref('later.variables')} = ${sql.ref('earlier.variables')}`;
const DIFFERS = sql<SqlBool>`(${sql.ref('later.output')}, ${sql.ref('later.tool_calls')}) is distinct from (${sql.ref('earlier.output')}, ${sql.ref('earlier.tool_calls')})`;
const spoken = (run: 'later' | 'earlier') =>
  sql`jsonb_path_query_array(coalesce(${sql.ref(`${run}.input_messages`)}, '[]'), '$[*] ? (@.role != "system")')`;
const SAME_MESSAGES = sql<SqlBool>`(${sql.ref('later.variables')} <> '{}' or ${spoken('later')} = ${spoken('earlier')})`;

/** Pairs of scored examples, for a `where` that says of which evaluations. */
const selectPairedResults = (db: Builder) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as later', 'later.evaluation_id', 'e.id')
    .innerJoin('evaluation_results as earlier', (join) => join.onRef('earlier.example_key', '=', 'later.example_key'))
    .innerJoin('evaluations as f', 'f.id', 'earlier.evaluation_id')
    .where('later.status', '=', 'scored')
    .where('earlier.status', '=', 'scored')
    .where(ONE_INPUT)
    .where(DIFFERS);

/** Examples of two evaluations with different outputs: a choice drawn by their keys. @throws ApiError `not_found` */
export async function selectDiffering(
  query: Query,
  queueId: string,
  { evaluationIds, limit }: { evaluationIds: readonly string[]; limit: number },
): Promise<Pair[]> {
  const [later, earlier] = laterFirst(evaluationIds);
  for (const id of [later, earlier]) await getEvaluation(query, id);
  const rows = await query((db) =>
    selectPairedResults(db)
      .select('later.example_key as key')
      .distinct()
      .select(sql<string>`md5(${queueId}::text || ${sql.ref('later.example_key')})`.as('drawn'))
      .where('e.id', '=', later)
      .where('f.id', '=', earlier)
      .orderBy('drawn')
      .limit(limit),
  );
  return rows.map(({ key }) => ({ evaluationIds, exampleId: key }));
}

/**
 * The items of pairs, without repetitions. Their executions or evaluations cannot be deleted until the transaction ends.
 * @param scoreNames of the queue
 * @throws ApiError `invalid_request` naming the first pair that cannot be compared, or the score that cannot be an answer
 */
export async function findPairs(
  query: Query,
  scoreNames: readonly string[],
  given: readonly Pair[],
): Promise<ItemToAdd[]> {
  for (const { name, data_type: type, min, max } of (await findScoreDefinitions(query, scoreNames)).values())
    if (type !== 'numeric' || (min ?? 0) > 0 || (max ?? 1) < 1)
      throw invalidField(
        'pairs',
        `are answered with a number from 0 to 1, and the queue's score "${name}" is ${type === 'numeric' ? 'defined otherwise' : type}: use another queue, with a new score name`,
      );
  const items = given.map(toItem);
  const found = new Set([...(await pairedExecutions(query, items)), ...(await pairedExamples(query, items))]);
  const missing = items.findIndex((item) => !found.has(pairKey(item)));
  if (missing !== -1)
    throw invalidField(
      `pairs.${missing}`,
      'must be two completed executions, or scored examples of two evaluations, with the same variables and different outputs',
    );
  return [...new Map(items.map((item) => [pairKey(item), item])).values()];
}

async function pairedExecutions(query: Query, items: readonly ItemToAdd[]): Promise<string[]> {
  const pairs = items.flatMap((item) =>
    'executionId' in item ? [{ later: item.executionId, earlier: item.otherExecutionId ?? '' }] : [],
  );
  if (pairs.length === 0) return [];
  const { later, earlier } = arraysOf(pairs);
  await query((db) =>
    db
      .selectFrom('executions')
      .select('id')
      .where('id', '=', anyOf([...later, ...earlier]))
      .orderBy('id')
      .forKeyShare(),
  );
  const rows = await query((db) =>
    db
      .selectFrom('executions as later')
      .innerJoin(unnestOf('given', { later: ['uuid', later], earlier: ['uuid', earlier] }), (join) =>
        join.onRef('given.later', '=', 'later.id'),
      )
      .innerJoin('executions as earlier', 'earlier.id', 'given.earlier')
      .select(['later.id as executionId', 'earlier.id as otherExecutionId'])
      .where('later.status', '=', 'completed')
      .where('earlier.status', '=', 'completed')
      .where(ONE_INPUT)
      .where(SAME_MESSAGES)
      .where(DIFFERS),
  );
  return rows.map(pairKey);
}

async function pairedExamples(query: Query, items: readonly ItemToAdd[]): Promise<string[]> {
  const pairs = items.flatMap((item) =>
    'exampleId' in item
      ? [{ later: item.evaluationId, earlier: item.otherEvaluationId ?? '', key: item.exampleId }]
      : [],
  );
  if (pairs.length === 0) return [];
  const { later, earlier, key } = arraysOf(pairs);
  await holdEvaluations(query, [...later, ...earlier]);
  const rows = await query((db) =>
    selectPairedResults(db)
      .innerJoin(
        unnestOf('given', { later: ['uuid', later], earlier: ['uuid', earlier], key: ['text', key] }),
        (join) =>
          join
            .onRef('given.later', '=', 'e.id')
            .onRef('given.earlier', '=', 'f.id')
            .onRef('given.key', '=', 'later.example_key'),
      )
      .select(['e.id as evaluationId', 'f.id as otherEvaluationId', 'later.example_key as exampleId']),
  );
  return rows.map(pairKey);
}
