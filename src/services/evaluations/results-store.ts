import { type Selectable, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson, prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { Cost, TokenUsage } from '../../domain/usage.ts';
import type { FinishReason, ModelResponse } from '../../models/model.ts';
import { addedUsage, lacksOutcome } from './added-usage.ts';
import type { RunSpec } from './run-spec.ts';

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

/** The columns of a new row that are stored as they are; the others come from the example. */
const OUTCOME_COLUMNS = [
  'status',
  'output',
  'finish_reason',
  'tokens_input',
  'tokens_output',
  'tokens_cached_input',
  'tokens_reasoning',
  'cost_amount',
  'pricing',
  'model_ms',
  'attempts',
  'round',
  'error',
  'scores',
  'score',
  'assumed_cost',
  'outcome_ids',
] as const;
const JSON_COLUMNS: readonly string[] = ['pricing', 'error', 'scores'];

type NewResult = Pick<Selectable<Tables['evaluation_results']>, 'seq' | (typeof OUTCOME_COLUMNS)[number]> & {
  evaluationId: string;
  examplesId: string | null;
};

/** The columns of the outcome that counts, from a row that is there or from the new one. */
const COUNTS = ['status', 'output', 'finish_reason', 'model_ms', 'round', 'error', 'scores', 'score'] as const;
const outcomeThatCounts = Object.fromEntries(
  COUNTS.map((column) => [
    column,
    sql<never>`case when evaluation_results.status = 'failed' and evaluation_results.round < excluded.round
      then ${sql.ref(`excluded.${column}`)} else ${sql.ref(`evaluation_results.${column}`)} end`,
  ]),
);

/**
 * The first result stays, unless it is a failure of an earlier round. What another one cost is added all the same: two workers
 * may have paid for the same example. `outcome_ids` makes the statement safe to repeat.
 */
const STORE_RESULT = prepared<NewResult>()((db, result) =>
  db
    .insertInto('evaluation_results')
    .columns(['evaluation_id', 'seq', 'example_key', 'variables', 'expected', ...OUTCOME_COLUMNS, 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('dataset_examples')
        .select([sql`${result.evaluationId}::uuid`.as('evaluation_id'), 'seq', 'example_key', 'variables', 'expected'])
        .select(
          OUTCOME_COLUMNS.map((column) =>
            sql`${JSON_COLUMNS.includes(column) ? asJson<unknown>(result[column]) : result[column]}`.as(column),
          ),
        )
        .select(now.as('created_at'))
        .where('dataset_version_id', '=', result.examplesId)
        .where('seq', '=', result.seq),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['evaluation_id', 'seq'])
        .doUpdateSet({
          ...outcomeThatCounts,
          ...addedUsage('evaluation_results'),
          attempts: sql<number>`evaluation_results.attempts + excluded.attempts`,
        })
        .where(lacksOutcome('evaluation_results')),
    ),
);

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
    finish_reason: response?.finishReason ?? (spent && finishReason) ?? null,
    tokens_input: spent?.tokens.input ?? 0,
    tokens_output: spent?.tokens.output ?? 0,
    tokens_cached_input: spent?.tokens.cached_input ?? 0,
    tokens_reasoning: spent?.tokens.reasoning ?? 0,
    cost_amount: spent?.cost.amount ?? null,
    pricing: spent?.cost.pricing ?? null,
    model_ms: response === undefined ? null : Math.round(response.modelMs),
    attempts: response?.attempts ?? attempts ?? 0,
    round: spec.round,
    error: error ?? null,
    scores: scores ?? null,
    score: score ?? null,
    assumed_cost: assumedUsd === undefined ? null : String(assumedUsd),
    outcome_ids: [outcomeId],
  });
}

type NewScore = Pick<NewResult, 'evaluationId' | 'seq' | 'round' | 'status' | 'scores' | 'score' | 'error'>;

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
