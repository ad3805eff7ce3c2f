import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import type { EvaluationSummary } from '../../../db/entities/evaluation.ts';
import { causesOf } from '../../../db/failure-causes.ts';
import { prepared } from '../../../db/statement.ts';
import { MAX_FAILURE_CAUSES } from '../../../domain/failures.ts';
import type { TokenUsage } from '../../../domain/usage.ts';

const sumOf = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)::float8`;

/** Sums of the usage columns that results and judgements share. */
const USAGE_SUMS = [
  sumOf('tokens_input').as('input'),
  sumOf('tokens_output').as('output'),
  sumOf('tokens_cached_input').as('cached_input'),
  sumOf('tokens_reasoning').as('reasoning'),
  sumOf('tokens_unknown').as('unknown'),
  sql<string>`trim_scale(coalesce(sum(cost_amount), 0))::text`.as('cost'),
  sql<boolean>`coalesce(bool_or(assumed_cost is not null), false)`.as('unpriced'),
] as const;

function tokensOf({ input, output, cached_input, reasoning }: Omit<TokenUsage, 'total'>): TokenUsage {
  return { input, output, cached_input, reasoning, total: input + output };
}

const SUM_UP_RESULTS = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
    .select(USAGE_SUMS)
    .select([
      sql<number>`count(*) filter (where r.status in ('scored', 'failed'))::int`.as('evaluated'),
      sql<number>`count(*) filter (where r.status = 'failed')::int`.as('failed'),
      sql<number>`count(*) filter (where r.status = 'scored' and r.score is null)::int`.as('unscored'),
      sql<number | null>`percentile_disc(0.5) within group (order by model_ms)`.as('p50Ms'),
      sql<number | null>`percentile_disc(0.95) within group (order by model_ms)`.as('p95Ms'),
    ])
    .where('e.id', '=', id),
);

const SUM_UP_JUDGEMENTS = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_judgements as j', 'j.evaluation_id', 'e.id')
    .select(USAGE_SUMS)
    .where('e.id', '=', id),
);

const UNSCORED_BY = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('evaluations as e')
        .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
        .select([
          sql<string>`(jsonb_each(${sql.ref('r.scores')})).key`.as('name'),
          sql<string | null>`(jsonb_each(${sql.ref('r.scores')})).value->>'score'`.as('score'),
        ])
        .where('e.id', '=', id)
        .where('r.status', '=', 'scored')
        .where('r.score', 'is', null)
        .as('given'),
    )
    .select(['name', sql<number>`count(*)::int`.as('count')])
    .where('score', 'is', null)
    .groupBy('name')
    .orderBy('name'),
);

const CAUSES = causesOf('r.error');
const FAILURES = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
    .select(CAUSES.columns)
    .where('e.id', '=', id)
    .where('r.status', '=', 'failed')
    .where('r.error', 'is not', null)
    .groupBy(CAUSES.groups)
    .orderBy('count', 'desc')
    .orderBy('code')
    .orderBy('message')
    .limit(MAX_FAILURE_CAUSES),
);

/**
 * Counts, tokens, cost and latency of a run so far, and why examples failed, from its rows. Stores nothing.
 * @param query bound to the run's workspace
 */
export async function readSummary(query: Query, evaluationId: string): Promise<EvaluationSummary> {
  const [results] = await query(SUM_UP_RESULTS, { id: evaluationId });
  const [judgements] = await query(SUM_UP_JUDGEMENTS, { id: evaluationId });
  if (results === undefined || judgements === undefined) throw new Error('An aggregate without a row.');
  const unscoredBy = results.unscored === 0 ? [] : await query(UNSCORED_BY, { id: evaluationId });
  return {
    evaluated: results.evaluated,
    failed: results.failed,
    unscored: results.unscored,
    unscoredBy: Object.fromEntries(unscoredBy.map(({ name, count }) => [name, count])),
    failures: results.failed === 0 ? [] : await query(FAILURES, { id: evaluationId }),
    tokens: tokensOf(results),
    cost: results.unpriced ? null : results.cost,
    tokensUnknown: results.unknown,
    judgeTokens: tokensOf(judgements),
    judgeTokensUnknown: judgements.unknown,
    judgeCost: judgements.unpriced ? null : judgements.cost,
    p50Ms: results.p50Ms,
    p95Ms: results.p95Ms,
  };
}
