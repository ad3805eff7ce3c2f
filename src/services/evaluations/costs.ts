import type { Query } from '../../db/database.ts';

/** What calls have cost, as a budget counts it: one of unknown cost as what was set aside for it. */
export interface Spending {
  /** US dollars, judges included. */
  costUsd: number;
  /** How many examples it was spent on. */
  examples: number;
}

const COUNTED = 'coalesce(cost_amount, 0) + coalesce(assumed_cost, 0)';

const COST_OF_RANGE = {
  text: `select coalesce(sum(cost), 0)::float8 as "costUsd", count(distinct seq)::int as examples from (
           select seq, ${COUNTED} as cost from evaluation_results where evaluation_id = $1 and seq >= $2 and seq < $3
           union all
           select seq, ${COUNTED} from evaluation_judgements where evaluation_id = $1 and seq >= $2 and seq < $3
         ) as paid where cost > 0`,
};

/** What the examples from `from` until before `to` have cost. */
export async function costOfRange(query: Query, evaluationId: string, from: number, to: number): Promise<Spending> {
  const [row] = await query<Spending>(COST_OF_RANGE, [evaluationId, from, to]);
  return row ?? { costUsd: 0, examples: 0 };
}

const COST_OF_RUN = {
  text: `select ((select coalesce(sum(${COUNTED}), 0) from evaluation_results where evaluation_id = e.id)
           + (select coalesce(sum(${COUNTED}), 0) from evaluation_judgements where evaluation_id = e.id))::text as cost
         from evaluations e where workspace_id = $1 and id = $2`,
};

/** What a run has cost so far as its budget counts it: a decimal string in US dollars. */
export async function costOfRun(query: Query, evaluationId: string): Promise<string> {
  const [row] = await query<{ cost: string }>(COST_OF_RUN, [evaluationId]);
  return row?.cost ?? '0';
}

const COST_BY_BATCH = {
  text: `select seq / $2::int as batch, sum(cost)::float8 as "costUsd"
         from (select seq, ${COUNTED} as cost from evaluation_results where evaluation_id = $1
               union all select seq, ${COUNTED} from evaluation_judgements where evaluation_id = $1) as paid
         where cost > 0 group by 1 order by 1`,
};

/** What the examples so far have cost by batch, in US dollars; batches that cost nothing are left out. */
export async function costByBatch(
  query: Query,
  evaluationId: string,
  batchSize: number,
): Promise<Record<number, number>> {
  const rows = await query<{ batch: number; costUsd: number }>(COST_BY_BATCH, [evaluationId, batchSize]);
  return Object.fromEntries(rows.map(({ batch, costUsd }) => [batch, costUsd]));
}
