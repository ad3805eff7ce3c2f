import type { Query } from '../../db/database.ts';

const COST_OF_RANGE = {
  text: `select
           coalesce((select sum(cost_amount) from evaluation_results
                     where evaluation_id = $1 and seq >= $2 and seq < $3), 0)::float8
           + coalesce((select sum(cost_amount) from evaluation_judgements
                       where evaluation_id = $1 and seq >= $2 and seq < $3), 0)::float8 as "costUsd"`,
};

/** What the examples from `from` until before `to` have cost, judges included, in US dollars. */
export async function costOfRange(query: Query, evaluationId: string, from: number, to: number): Promise<number> {
  const [row] = await query<{ costUsd: number }>(COST_OF_RANGE, [evaluationId, from, to]);
  return row?.costUsd ?? 0;
}

const COST_BY_BATCH = {
  text: `select seq / $2::int as batch, sum(cost_amount)::float8 as "costUsd"
         from (select seq, cost_amount from evaluation_results where evaluation_id = $1
               union all select seq, cost_amount from evaluation_judgements where evaluation_id = $1) as paid
         where cost_amount > 0 group by 1 order by 1`,
};

/** What the examples so far have cost, judges included, in US dollars, by batch; batches that cost nothing are left out. */
export async function costByBatch(
  query: Query,
  evaluationId: string,
  batchSize: number,
): Promise<Record<number, number>> {
  const rows = await query<{ batch: number; costUsd: number }>(COST_BY_BATCH, [evaluationId, batchSize]);
  return Object.fromEntries(rows.map(({ batch, costUsd }) => [batch, costUsd]));
}
