import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import type { ResultNotes } from '../../../db/entities/evaluation.ts';
import { type ArraysOf, arraysOf, jsonText, now, unnestOf } from '../../../db/sql.ts';
import { prepared } from '../../../db/statement.ts';
import type { Spent } from '../../../domain/usage.ts';
import type { FinishReason, ModelResponse } from '../../../models/model.ts';
import type { RunSpec } from '../creation/run-spec.ts';
import { addedUsage, lacksOutcome, USAGE_COLUMNS, usageArrays, usageColumns } from './stored-usage.ts';

/** How an example ended or, with `answered`, that its output is stored. */
export interface ResultToStore {
  status: 'answered' | 'scored' | 'failed';
  /** `model`: null if unknown. */
  response?: (ModelResponse & { attempts: number; model: string | null }) | undefined;
  /** A score of null: the evaluator gave none. */
  scores?: Record<string, { score: number | null; reason: string | null; category?: string }> | undefined;
  /** Null if one of the evaluators gave none. */
  score?: number | null | undefined;
  error?: { code: string; message: string } | undefined;
  /** The duration of the call is unknown. */
  isUntimed?: boolean | undefined;
  /** Without an output: the number of calls made. */
  attempts?: number | undefined;
  /** Without an output: the model that failed last. */
  model?: string | null | undefined;
  /** Without an output: what was billed anyway, because a filter withheld the output or it could not be parsed. */
  spent?: Spent | undefined;
  /** Without an output: how the billed call ended. Default: derived from the error. */
  finishReason?: FinishReason | undefined;
  /** The hash of what the model was sent, in hexadecimal, if this run has paid for the output. */
  callHash?: string | undefined;
  /** If the output was paid for before: the execution or evaluation that paid (public id), and the cost. */
  reused?: { from: string; costUsd: string | null } | undefined;
  /** What the call counts against a budget, in US dollars, if its cost is unknown. */
  assumedUsd?: number | undefined;
}

/** The columns of a new row that come from its run and its example. */
const EXAMPLE_COLUMNS = [
  'evaluation_id',
  'round',
  'created_at',
  'seq',
  'example_key',
  'variables',
  'expected',
] as const;
/** The columns that come from the model's call. */
const OUTCOME_COLUMNS = [
  'status',
  'output',
  'tool_calls',
  'model',
  'finish_reason',
  'notes',
  ...USAGE_COLUMNS,
  'model_ms',
  'attempts',
  'error',
  'scores',
  'score',
  'source_cost',
  'reused_from',
] as const;

/** The outcome of calling the model for an example. */
export interface NewResult {
  seq: number;
  result: ResultToStore;
  /** The id of this outcome: storing it again has no effect. */
  outcomeId: string;
}

function notesOf({ skipped, warnings }: ModelResponse): ResultNotes | null {
  if (skipped === undefined && warnings === undefined) return null;
  return { ...(skipped !== undefined && { skipped }), ...(warnings !== undefined && { warnings }) };
}

function toRow({ seq, outcomeId, result }: NewResult) {
  const { status, response, scores, score, error, attempts, assumedUsd, callHash, reused, isUntimed } = result;
  const { spent = response, model = response?.model } = result;
  const { finishReason = error?.code === 'content_filtered' ? 'content_filter' : 'other' } = result;
  return {
    seq,
    outcome_id: outcomeId,
    status,
    output: response?.output ?? null,
    tool_calls: jsonText(response?.toolCalls.length ? response.toolCalls : null),
    model: model ?? null,
    finish_reason: response?.finishReason ?? (spent && finishReason) ?? null,
    notes: jsonText(response && notesOf(response)),
    ...usageColumns(spent, assumedUsd),
    model_ms: response === undefined || isUntimed ? null : Math.round(response.modelMs),
    attempts: response?.attempts ?? attempts ?? 0,
    error: jsonText(error),
    scores: jsonText(scores),
    score: score ?? null,
    call_hash: (response && callHash) ?? null,
    source_cost: reused?.costUsd ?? null,
    reused_from: reused?.from ?? null,
  };
}

type NewResults = ArraysOf<ReturnType<typeof toRow>> & {
  evaluationId: string;
  examplesId: string | null;
  round: number;
};

/** The columns of the outcome that counts: of the existing row or the new one. */
const COUNTS = [
  'status',
  'output',
  'tool_calls',
  'model',
  'finish_reason',
  'notes',
  'model_ms',
  'round',
  'error',
  'scores',
  'score',
  'call_hash',
  'source_cost',
  'reused_from',
] as const;
const outcomeThatCounts = Object.fromEntries(
  COUNTS.map((column) => [
    column,
    sql<never>`case when evaluation_results.status = 'failed' and evaluation_results.round < excluded.round
      then ${sql.ref(`excluded.${column}`)} else ${sql.ref(`evaluation_results.${column}`)} end`,
  ]),
);

/**
 * The first result is kept, unless it is a failure of an earlier round. The cost of another one is added anyway: two workers may
 * have paid for the same example. `outcome_ids` makes the statement safe to repeat. Rows are written in the order of the
 * examples, so that two workers cannot deadlock.
 */
const STORE_RESULTS = prepared<NewResults>()((db, given) =>
  db
    .insertInto('evaluation_results')
    .columns([...EXAMPLE_COLUMNS, ...OUTCOME_COLUMNS, 'call_hash', 'outcome_ids'])
    .expression((eb) =>
      eb
        .selectFrom(
          unnestOf('given', {
            seq: ['integer', given.seq],
            outcome_id: ['uuid', given.outcome_id],
            status: ['text', given.status],
            output: ['text', given.output],
            tool_calls: ['jsonb', given.tool_calls],
            model: ['text', given.model],
            finish_reason: ['text', given.finish_reason],
            notes: ['jsonb', given.notes],
            ...usageArrays(given),
            model_ms: ['integer', given.model_ms],
            attempts: ['integer', given.attempts],
            error: ['jsonb', given.error],
            scores: ['jsonb', given.scores],
            score: ['double precision', given.score],
            call_hash: ['text', given.call_hash],
            source_cost: ['numeric', given.source_cost],
            reused_from: ['text', given.reused_from],
          }),
        )
        // The limit forces a look-up by key for each row, whatever the planner knows of the table.
        .innerJoinLateral(
          (examples) =>
            examples
              .selectFrom('dataset_examples')
              .select(['example_key', 'variables', 'expected'])
              .where('dataset_version_id', '=', given.examplesId)
              .whereRef('seq', '=', 'given.seq')
              .limit(1)
              .as('example'),
          (join) => join.onTrue(),
        )
        .select([sql`${given.evaluationId}::uuid`.as('evaluation_id'), sql`${given.round}::integer`.as('round')])
        .select([now.as('created_at'), 'given.seq', 'example_key', 'variables', 'expected'])
        .select(OUTCOME_COLUMNS.map((column) => `given.${column}` as const))
        .select(sql`decode(${sql.ref('given.call_hash')}, 'hex')`.as('call_hash'))
        .select(sql`array[${sql.ref('given.outcome_id')}]`.as('outcome_ids'))
        .orderBy('given.seq'),
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

/** Stores the outcomes of calling the model, at most one per example: all of them or none. */
export async function storeResults(
  query: Query,
  evaluationId: string,
  { examplesId, round }: Pick<RunSpec, 'examplesId' | 'round'>,
  results: readonly NewResult[],
): Promise<void> {
  await query(STORE_RESULTS, { evaluationId, examplesId, round, ...arraysOf(results.map(toRow)) });
}

/** How an example with a stored output ended: with its scores, or failed because a judge failed permanently. */
export interface NewScore {
  seq: number;
  result: Pick<ResultToStore, 'status' | 'scores' | 'score' | 'error'>;
}

const toScoreRow = ({ seq, result: { status, scores, score, error } }: NewScore) => ({
  seq,
  status,
  scores: jsonText(scores),
  score: score ?? null,
  error: jsonText(error),
});

type NewScores = ArraysOf<ReturnType<typeof toScoreRow>> & Pick<NewResults, 'evaluationId' | 'round'>;

const STORE_SCORES = prepared<NewScores>()((db, given) =>
  db
    .updateTable('evaluation_results as r')
    .from(
      unnestOf('given', {
        seq: ['integer', given.seq],
        status: ['text', given.status],
        scores: ['jsonb', given.scores],
        score: ['double precision', given.score],
        error: ['jsonb', given.error],
      }),
    )
    .set((eb) => ({
      status: eb.ref('given.status'),
      scores: sql.ref<never>('given.scores'),
      score: eb.ref('given.score'),
      error: sql.ref<never>('given.error'),
      round: given.round,
    }))
    .where('r.evaluation_id', '=', given.evaluationId)
    .whereRef('r.seq', '=', 'given.seq')
    .where('r.status', '<>', 'scored'),
);

/** Ends examples whose output is stored: all of them or none. */
export async function storeScores(
  query: Query,
  evaluationId: string,
  round: number,
  scores: readonly NewScore[],
): Promise<void> {
  await query(STORE_SCORES, { evaluationId, round, ...arraysOf(scores.map(toScoreRow)) });
}
