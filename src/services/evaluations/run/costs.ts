import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { type Builder, prepared } from '../../../db/statement.ts';

/** The cost of calls as counted against a budget: a call of unknown cost counts as the amount reserved for it. */
export interface Spending {
  /** US dollars, judges included. */
  costUsd: number;
  /** The number of examples it was spent on. */
  examples: number;
}

const COUNTED = sql<number>`coalesce(cost_amount, 0) + coalesce(assumed_cost, 0)`;

/** The costs of the examples and of the judges' calls, one row each. */
const selectCosts = (db: Builder) =>
  db
    .selectFrom('evaluation_results')
    .select(['evaluation_id', 'seq', COUNTED.as('cost')])
    .unionAll(db.selectFrom('evaluation_judgements').select(['evaluation_id', 'seq', COUNTED.as('cost')]));

const COST_OF_RANGE = prepared<{ evaluationId: string; from: number; to: number }>()((db, { evaluationId, from, to }) =>
  db
    .selectFrom(selectCosts(db).as('paid'))
    .select([
      sql<number>`coalesce(sum(cost), 0)::float8`.as('costUsd'),
      sql<number>`count(distinct seq)::int`.as('examples'),
    ])
    .where('evaluation_id', '=', evaluationId)
    .where('seq', '>=', from)
    .where('seq', '<', to)
    .where('cost', '>', 0),
);

/** The cost of the examples from `from` up to, but excluding, `to`. */
export async function costOfRange(query: Query, evaluationId: string, from: number, to: number): Promise<Spending> {
  const [row] = await query(COST_OF_RANGE, { evaluationId, from, to });
  return row ?? { costUsd: 0, examples: 0 };
}

/** The estimate ignores older calls. */
const LAST = 32;

/**
 * The cost of a run's calls of one kind as counted against its budget: the number of calls, and their latest costs in US dollars.
 * @param evaluator the judge that was called; null: the calls for responses
 */
export async function lastCosts(
  query: Query,
  { evaluationId, evaluator }: { evaluationId: string; evaluator: string | null },
): Promise<{ calls: number; usd: number[] }> {
  const rows = await query((db) => {
    const paid =
      evaluator === null
        ? db
            .selectFrom('evaluation_results')
            .select(['seq', COUNTED.as('usd')])
            .where('evaluation_id', '=', evaluationId)
        : db
            .selectFrom('evaluation_judgements')
            .select(['seq', COUNTED.as('usd')])
            .where('evaluation_id', '=', evaluationId)
            .where('evaluator', '=', evaluator);
    return db
      .selectFrom(paid.as('paid'))
      .select([sql<number>`usd::float8`.as('usd'), sql<number>`(count(*) over ())::int`.as('calls')])
      .where('usd', '>', 0)
      .orderBy('seq', 'desc')
      .limit(LAST);
  });
  return { calls: rows[0]?.calls ?? 0, usd: rows.map(({ usd }) => usd).reverse() };
}

const SUM = sql<string>`coalesce(sum(coalesce(cost_amount, 0) + coalesce(assumed_cost, 0)), 0)`.as('sum');

/**
 * The cost of a run so far as counted against its budget: a decimal string in US dollars.
 * @param query bound to the workspace
 */
export async function costOfRun(query: Query, evaluationId: string): Promise<string> {
  const [row] = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .select((eb) => {
        const results = eb.selectFrom('evaluation_results as r').select(SUM).whereRef('r.evaluation_id', '=', 'e.id');
        const judgements = eb
          .selectFrom('evaluation_judgements as j')
          .select(SUM)
          .whereRef('j.evaluation_id', '=', 'e.id');
        return sql<string>`(${results} + ${judgements})::text`.as('cost');
      })
      .where('e.id', '=', evaluationId),
  );
  return row?.cost ?? '0';
}

/** The cost of the examples so far by batch, in US dollars; batches without cost are omitted. */
export async function costByBatch(
  query: Query,
  evaluationId: string,
  batchSize: number,
): Promise<Record<number, number>> {
  const rows = await query((db) =>
    db
      .selectFrom(selectCosts(db).as('paid'))
      .select([sql<number>`seq / ${batchSize}::int`.as('batch'), sql<number>`sum(cost)::float8`.as('costUsd')])
      .where('evaluation_id', '=', evaluationId)
      .where('cost', '>', 0)
      .groupBy('batch')
      .orderBy('batch'),
  );
  return Object.fromEntries(rows.map(({ batch, costUsd }) => [batch, costUsd]));
}
