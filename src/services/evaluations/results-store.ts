import { type Expression, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { asJson, prepared } from '../../db/statement.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { Cost, Pricing, TokenUsage } from '../../domain/usage.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { FinishReason, ModelResponse } from '../../models/model.ts';
import { addedUsage, lacksOutcome } from './added-usage.ts';

/** One round of an evaluation: the first, or a retry of what failed in the rounds before. */
export interface RunRef {
  evaluationId: string;
  /** 0, or the retry this is. */
  round: number;
}

/** What a run does with each of its examples. */
export interface RunSpec {
  workspaceId: string;
  template: string;
  model: string;
  parameters: ModelParameters;
  evaluators: EvaluatorConfig[];
  /** Null once the dataset was deleted. */
  examplesId: string | null;
  /** 0, or the retry this is. */
  round: number;
}

const LOAD_SPEC = prepared<RunRef>()((db, { evaluationId, round }) =>
  db
    .selectFrom('evaluations')
    .select(['workspace_id as workspaceId', 'template', 'model', 'parameters', 'examples_id as examplesId'])
    .select(['retries as round', sql<EvaluatorConfig[]>`evaluators`.as('evaluators')])
    .where('id', '=', evaluationId)
    .where('retries', '=', round)
    .where(inStates(evaluationStates, ['running', 'paused'])),
);

/** Undefined where the run is gone or has ended. */
export async function loadRunSpec(query: Query, { evaluationId, round }: RunRef): Promise<RunSpec | undefined> {
  const [spec] = await query(LOAD_SPEC, { evaluationId, round });
  return spec;
}

/** An example that has no final result yet. */
export interface OpenExample {
  seq: number;
  variables: Record<string, JsonValue>;
  /** Undefined where none was given; JSON null is a value. */
  expected: JsonValue | undefined;
  metadata: Record<string, JsonValue> | null;
  /** The model's output, where it is there already. */
  output: string | null;
}

interface OpenRange {
  evaluationId: string;
  examplesId: string | null;
  /** Inclusive. */
  from: number;
  /** Exclusive. */
  to: number;
  round: number;
  limit: number;
}

const LOAD_OPEN = prepared<OpenRange>()((db, { evaluationId, examplesId, from, to, round, limit }) =>
  db
    .selectFrom('dataset_examples as e')
    .leftJoin('evaluation_results as r', (join) =>
      join.onRef('r.seq', '=', 'e.seq').on('r.evaluation_id', '=', evaluationId),
    )
    .select(['e.seq', 'e.variables', 'e.expected', 'e.metadata', 'r.output'])
    .select((eb) => eb('e.expected', 'is not', null).as('hasExpected'))
    .where('e.dataset_version_id', '=', examplesId)
    .where('e.seq', '>=', from)
    .where('e.seq', '<', to)
    .where((eb) =>
      eb.or([
        eb('r.seq', 'is', null),
        eb('r.status', '=', 'answered'),
        eb.and([eb('r.status', '=', 'failed'), eb('r.round', '<', round)]),
      ]),
    )
    .orderBy('e.seq')
    .limit(limit),
);

/** Examples from `from` until before `to` that still have something to do, in order, `limit` at most. */
export async function loadOpenExamples(
  query: Query,
  evaluationId: string,
  { examplesId, round }: Pick<RunSpec, 'examplesId' | 'round'>,
  from: number,
  to: number,
  limit: number,
): Promise<OpenExample[]> {
  const rows = await query(LOAD_OPEN, { evaluationId, examplesId, from, to, round, limit });
  return rows.map(({ hasExpected, expected, ...row }) => ({ ...row, expected: hasExpected ? expected : undefined }));
}

/** How an example ended, or (`answered`) that its output is safe. */
export interface ResultToStore {
  status: 'answered' | 'scored' | 'failed';
  response?: (ModelResponse & { attempts: number }) | undefined;
  scores?: Record<string, { score: number; reason: string | null }> | undefined;
  score?: number | undefined;
  error?: { code: string; message: string } | undefined;
  /** Without an output: the calls that were made. */
  attempts?: number | undefined;
  /** Without an output: what was billed all the same, where a filter withheld it. */
  spent?: { tokens: TokenUsage; cost: Cost } | undefined;
  /** Without an output: how the call that was billed ended. Default: a filter withheld its output. */
  finishReason?: FinishReason | undefined;
  /** What the call counts as against a budget, in US dollars, where its cost is unknown. */
  assumedUsd?: number | undefined;
}

interface NewResult {
  evaluationId: string;
  examplesId: string | null;
  seq: number;
  status: ResultToStore['status'];
  output: string | null;
  finishReason: string | null;
  tokensInput: number;
  tokensOutput: number;
  tokensCachedInput: number;
  tokensReasoning: number;
  costAmount: string | null;
  pricing: Pricing | null;
  modelMs: number | null;
  attempts: number;
  round: number;
  error: { code: string; message: string } | null;
  scores: Record<string, { score: number; reason: string | null }> | null;
  score: number | null;
  assumedCost: string | null;
  outcomeId: string;
}

const IS_RETRIED = sql<boolean>`evaluation_results.status = 'failed' and evaluation_results.round < excluded.round`;

/** The columns of the outcome that counts. The others are sums over all that was paid for. */
function outcomeThatCounts() {
  const latest = <Value>(column: string) =>
    sql<Value>`case when ${IS_RETRIED} then ${sql.ref(`excluded.${column}`)}
      else ${sql.ref(`evaluation_results.${column}`)} end`;
  return {
    status: latest<ResultToStore['status']>('status'),
    output: latest<string>('output'),
    finish_reason: latest<string>('finish_reason'),
    model_ms: latest<number>('model_ms'),
    round: latest<number>('round'),
    error: latest<NonNullable<NewResult['error']>>('error'),
    scores: latest<NonNullable<NewResult['scores']>>('scores'),
    score: latest<number>('score'),
  };
}

/**
 * The first result stays, unless it is a failure of an earlier round. What another one cost is added all the same: two workers
 * may have paid for the same example. `outcome_ids` makes the statement safe to repeat.
 */
const STORE_RESULT = prepared<NewResult>()((db, result) => {
  const columns = {
    status: result.status,
    output: result.output,
    finish_reason: result.finishReason,
    tokens_input: result.tokensInput,
    tokens_output: result.tokensOutput,
    tokens_cached_input: result.tokensCachedInput,
    tokens_reasoning: result.tokensReasoning,
    cost_amount: result.costAmount,
    pricing: asJson(result.pricing),
    model_ms: result.modelMs,
    attempts: result.attempts,
    round: result.round,
    error: asJson(result.error),
    scores: asJson(result.scores),
    score: result.score,
    assumed_cost: result.assumedCost,
    outcome_ids: sql<string[]>`array[${result.outcomeId}::uuid]`,
    created_at: now,
  } satisfies Record<string, Expression<unknown>>;
  const names = Object.keys(columns) as (keyof typeof columns)[];
  return db
    .insertInto('evaluation_results')
    .columns(['evaluation_id', 'seq', 'example_key', 'variables', 'expected', ...names])
    .expression((eb) =>
      eb
        .selectFrom('dataset_examples')
        .select([sql`${result.evaluationId}::uuid`.as('evaluation_id'), 'seq', 'example_key', 'variables', 'expected'])
        .select(names.map((name) => sql`${columns[name]}`.as(name)))
        .where('dataset_version_id', '=', result.examplesId)
        .where('seq', '=', result.seq),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['evaluation_id', 'seq'])
        .doUpdateSet({
          ...outcomeThatCounts(),
          ...addedUsage('evaluation_results'),
          attempts: sql<number>`evaluation_results.attempts + excluded.attempts`,
        })
        .where(lacksOutcome('evaluation_results')),
    );
});

/**
 * Stores what came of calling the model for an example.
 * @param outcomeId of this outcome; storing it again changes nothing
 */
export async function storeResult(
  query: Query,
  evaluationId: string,
  spec: Pick<RunSpec, 'examplesId' | 'round'>,
  seq: number,
  {
    status,
    response,
    scores,
    score,
    error,
    attempts,
    spent = response,
    assumedUsd,
    finishReason = 'content_filter',
  }: ResultToStore,
  outcomeId: string,
): Promise<void> {
  await query(STORE_RESULT, {
    evaluationId,
    examplesId: spec.examplesId,
    seq,
    status,
    output: response?.output ?? null,
    finishReason: response?.finishReason ?? (spent && finishReason) ?? null,
    tokensInput: spent?.tokens.input ?? 0,
    tokensOutput: spent?.tokens.output ?? 0,
    tokensCachedInput: spent?.tokens.cached_input ?? 0,
    tokensReasoning: spent?.tokens.reasoning ?? 0,
    costAmount: spent?.cost.amount ?? null,
    pricing: spent?.cost.pricing ?? null,
    modelMs: response === undefined ? null : Math.round(response.modelMs),
    attempts: response?.attempts ?? attempts ?? 0,
    round: spec.round,
    error: error ?? null,
    scores: scores ?? null,
    score: score ?? null,
    assumedCost: assumedUsd === undefined ? null : String(assumedUsd),
    outcomeId,
  });
}

interface NewScore
  extends Pick<NewResult, 'evaluationId' | 'seq' | 'round' | 'status' | 'scores' | 'score' | 'error'> {}

const SCORE_RESULT = prepared<NewScore>()((db, { evaluationId, seq, round, status, scores, score, error }) =>
  db
    .updateTable('evaluation_results')
    .set({ status, scores: asJson(scores), score, error: asJson(error), round })
    .where('evaluation_id', '=', evaluationId)
    .where('seq', '=', seq)
    .where('status', '<>', 'scored'),
);

/** Ends an example whose output is stored: with its scores, or failed since a judge failed for good. */
export async function scoreResult(
  query: Query,
  evaluationId: string,
  round: number,
  seq: number,
  { status, scores, score, error }: ResultToStore,
): Promise<void> {
  const outcome = { status, scores: scores ?? null, score: score ?? null, error: error ?? null };
  await query(SCORE_RESULT, { evaluationId, seq, round, ...outcome });
}
