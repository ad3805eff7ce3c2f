import type { Query } from '../../db/database.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { ModelAnswer } from '../../models/model.ts';

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
}

/** A result that is final stays; a failure of an earlier round is replaced, but what it cost stays in the sum. */
const STORE_RESULT = {
  name: 'store-result',
  text: `insert into evaluation_results as r (evaluation_id, seq, example_key, variables, expected, status, output,
           finish_reason, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, pricing,
           model_ms, attempts, round, error, scores, score, created_at)
         select $1, seq, example_key, variables, expected, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, now()
         from dataset_examples where dataset_version_id = $2 and seq = $3
         on conflict (evaluation_id, seq) do update set status = excluded.status, output = excluded.output,
           finish_reason = excluded.finish_reason, tokens_input = r.tokens_input + excluded.tokens_input,
           tokens_output = r.tokens_output + excluded.tokens_output,
           tokens_cached_input = r.tokens_cached_input + excluded.tokens_cached_input,
           tokens_reasoning = r.tokens_reasoning + excluded.tokens_reasoning,
           cost_amount = coalesce(r.cost_amount + excluded.cost_amount, excluded.cost_amount, r.cost_amount),
           pricing = coalesce(excluded.pricing, r.pricing),
           model_ms = excluded.model_ms, attempts = r.attempts + excluded.attempts, round = excluded.round,
           error = excluded.error, scores = excluded.scores, score = excluded.score
         where r.status = 'failed' and r.round < excluded.round`,
};

/** Stores what came of calling the model for an example; the first to store wins. */
export async function storeResult(
  query: Query,
  evaluationId: string,
  spec: Pick<RunSpec, 'examplesId' | 'round'>,
  seq: number,
  { status, answer, scores, score, error, attempts, spent = answer }: ResultToStore,
): Promise<void> {
  await query(STORE_RESULT, [
    evaluationId,
    spec.examplesId,
    seq,
    status,
    answer?.output ?? null,
    answer?.finishReason ?? (spent && 'content_filter') ?? null,
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
