import type { Query } from '../../db/database.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { FinishReason, ModelAnswer } from '../../models/model.ts';
import { ADDED_USAGE } from './added-usage.ts';

/** One go at an evaluation: the first, or a retry of what failed in the ones before. */
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

const LOAD_SPEC = {
  text: `select workspace_id as "workspaceId", template, model, parameters, evaluators, examples_id as "examplesId",
           retries as round
         from evaluations where id = $1 and retries = $2 and status in ('running', 'paused')`,
};

/** Undefined where the run is gone or has ended. */
export async function loadRunSpec(query: Query, { evaluationId, round }: RunRef): Promise<RunSpec | undefined> {
  const [spec] = await query<RunSpec>(LOAD_SPEC, [evaluationId, round]);
  return spec;
}

/** An example that has no final result yet. */
export interface OpenExample {
  seq: number;
  variables: Record<string, JsonValue>;
  /** Undefined where none was given; JSON null is a value. */
  expected: JsonValue | undefined;
  metadata: Record<string, JsonValue> | null;
  /** The model's answer, where it is there already. */
  output: string | null;
}

const LOAD_OPEN = {
  name: 'load-open-examples',
  text: `select e.seq, e.variables, e.expected, e.expected is not null as "hasExpected", e.metadata, r.output
         from dataset_examples e
         left join evaluation_results r on r.evaluation_id = $1 and r.seq = e.seq
         where e.dataset_version_id = $2 and e.seq >= $3 and e.seq < $4
           and (r.seq is null or r.status = 'answered' or (r.status = 'failed' and r.round < $5))
         order by e.seq limit $6`,
};

/** Examples from `from` until before `to` that still have something to do, in order, `limit` at most. */
export async function loadOpenExamples(
  query: Query,
  evaluationId: string,
  spec: Pick<RunSpec, 'examplesId' | 'round'>,
  from: number,
  to: number,
  limit: number,
): Promise<OpenExample[]> {
  const rows = await query<OpenExample & { hasExpected: boolean }>(LOAD_OPEN, [
    evaluationId,
    spec.examplesId,
    from,
    to,
    spec.round,
    limit,
  ]);
  return rows.map(({ hasExpected, expected, ...row }) => ({ ...row, expected: hasExpected ? expected : undefined }));
}

/** How an example ended, or (`answered`) that its answer is safe. */
export interface ResultToStore {
  status: 'answered' | 'scored' | 'failed';
  answer?: (ModelAnswer & { attempts: number }) | undefined;
  scores?: Record<string, { score: number; reason: string | null }> | undefined;
  score?: number | undefined;
  error?: { code: string; message: string } | undefined;
  /** Without an answer: the calls that were made. */
  attempts?: number | undefined;
  /** Without an answer: what was billed all the same, for one that a filter withheld. */
  spent?: { tokens: TokenUsage; cost: Cost } | undefined;
  /** Without an answer: how the call ended that was billed. Default: a filter withheld its answer. */
  finishReason?: FinishReason | undefined;
  /** What the call counts as against a budget, in US dollars, where its cost is unknown. */
  assumedUsd?: number | undefined;
}

/** Columns of the row that are taken from the outcome that counts. The others are sums over all that was paid for. */
const OUTCOME = ['status', 'output', 'finish_reason', 'model_ms', 'round', 'error', 'scores', 'score'];
const IS_RETRIED = `r.status = 'failed' and r.round < excluded.round`;
const OUTCOME_THAT_COUNTS = OUTCOME.map(
  (column) => `${column} = case when ${IS_RETRIED} then excluded.${column} else r.${column} end`,
).join(', ');

/**
 * The first result stays, unless it is a failure of an earlier round. What another one cost is added all the same: two workers
 * may have paid for the same example. `outcome_ids` makes the statement safe to repeat.
 */
const STORE_RESULT = {
  name: 'store-result',
  text: `insert into evaluation_results as r (evaluation_id, seq, example_key, variables, expected, status, output,
           finish_reason, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, pricing,
           model_ms, attempts, round, error, scores, score, assumed_cost, outcome_ids, created_at)
         select $1, seq, example_key, variables, expected, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
           $19, array[$20::uuid], now()
         from dataset_examples where dataset_version_id = $2 and seq = $3
         on conflict (evaluation_id, seq) do update set ${OUTCOME_THAT_COUNTS}, ${ADDED_USAGE},
           attempts = r.attempts + excluded.attempts
         where not r.outcome_ids @> excluded.outcome_ids`,
};

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
    answer,
    scores,
    score,
    error,
    attempts,
    spent = answer,
    assumedUsd,
    finishReason = 'content_filter',
  }: ResultToStore,
  outcomeId: string,
): Promise<void> {
  await query(STORE_RESULT, [
    evaluationId,
    spec.examplesId,
    seq,
    status,
    answer?.output ?? null,
    answer?.finishReason ?? (spent && finishReason) ?? null,
    spent?.tokens.input ?? 0,
    spent?.tokens.output ?? 0,
    spent?.tokens.cached_input ?? 0,
    spent?.tokens.reasoning ?? 0,
    spent?.cost.amount ?? null,
    spent?.cost.pricing ?? null,
    answer === undefined ? null : Math.round(answer.modelMs),
    answer?.attempts ?? attempts ?? 0,
    spec.round,
    error ?? null,
    scores ?? null,
    score ?? null,
    assumedUsd ?? null,
    outcomeId,
  ]);
}

const SCORE_RESULT = {
  name: 'score-result',
  text: `update evaluation_results set status = $3, scores = $4, score = $5, error = $6, round = $7
         where evaluation_id = $1 and seq = $2 and status <> 'scored'`,
};

/** Ends an example whose answer is stored: with its scores, or failed since a judge failed for good. */
export async function scoreResult(
  query: Query,
  evaluationId: string,
  round: number,
  seq: number,
  { status, scores, score, error }: ResultToStore,
): Promise<void> {
  await query(SCORE_RESULT, [evaluationId, seq, status, scores ?? null, score ?? null, error ?? null, round]);
}
