import { defineEntity, p } from '@mikro-orm/core';
import { type BatchSettings, EVALUATION_MODES, type EvaluationMode } from '../../domain/batches/batch-mode.ts';
import type { EvaluationTarget } from '../../domain/evaluations/code-run.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import type { FromExecutions } from '../../domain/evaluations/replay.ts';
import type { FailureCauses } from '../../domain/failures.ts';
import type { ToolCall } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { IncludeSet, PromptContent } from '../../domain/prompts/prompt-content.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { Pricing, TokenUsage } from '../../domain/usage.ts';
import { evaluationQueueTriggers } from '../queue-triggers.ts';
import { evaluationStorageTriggers } from '../storage-triggers.ts';
import { judgementUsageTriggers, resultUsageTriggers } from '../usage-triggers.ts';
import type { CallNotes } from './execution.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** `answered`: the model's response is stored, but not the score. `failed`: there will be no response. */
export const RESULT_STATUSES = ['answered', 'scored', 'failed'] as const;

/** Sums over the results of a run so far. `cost` and `tokens` exclude the judges. */
export interface EvaluationSummary {
  evaluated: number;
  failed: number;
  tokens: TokenUsage;
  /** Decimal string in US dollars; null if a price is unknown. */
  cost: string | null;
  judgeTokens: TokenUsage;
  judgeCost: string | null;
  /** Calls of the model and of judges with unknown usage, which the sums exclude. Missing in older sums. */
  tokensUnknown?: number;
  judgeTokensUnknown?: number;
  p50Ms: number | null;
  p95Ms: number | null;
  /** Evaluated examples without a score, because one of their evaluators gave none. Missing in older sums. */
  unscored?: number;
  /** The number of them by evaluator without a score. */
  unscoredBy?: Record<string, number>;
  /** Why examples failed, the most frequent causes first. Missing in older sums. */
  failures?: FailureCauses;
}

const oneOf = <S extends string>(names: readonly S[]) =>
  p.enum(() => Object.fromEntries(names.map((name) => [name, name]))).$type<S>();

/** Notes about a call in addition to its response. */
export type ResultNotes = Pick<CallNotes, 'skipped' | 'warnings'>;

/** The billed usage of model calls. */
export const usageColumns = {
  tokensInput: p.bigint('number').default(0),
  tokensOutput: p.bigint('number').default(0),
  tokensCachedInput: p.bigint('number').default(0),
  tokensReasoning: p.bigint('number').default(0),
  /** Calls whose usage the provider has not reported. */
  tokensUnknown: p.bigint('number').default(0),
  costAmount: p.decimal('string').columnType('numeric').nullable(),
  /** The US dollars that calls of unknown cost count against `max_cost`; null if every cost is known. */
  assumedCost: p.decimal('string').columnType('numeric').nullable(),
  /** Ids of the call outcomes included in the row, so that a repeated statement adds none twice. */
  outcomeIds: p.array().$type<string[]>().columnType('uuid[]').default([]),
  pricing: p.json<Pricing>().columnType('jsonb').nullable(),
};

/**
 * A run of a prompt version over examples. `status` also contains what the caller requested: the workflow reads the row whenever
 * it is signaled that something changed.
 */
export const Evaluation = defineEntity({
  name: 'Evaluation',
  tableName: 'evaluations',
  triggers: [...evaluationStorageTriggers, ...evaluationQueueTriggers],
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'promptName', 'id'] },
    { properties: ['workspaceId', 'status', 'id'] },
    { properties: ['workspaceId', 'datasetName', 'id'] },
    { properties: ['workspaceId', 'scheduleId', 'id'] },
    { properties: ['examplesId'] },
    {
      name: 'evaluations_improvement_index',
      expression: `create index "evaluations_improvement_index" on "evaluations" ("improvement_id", "id") where "improvement_id" is not null`,
    },
    {
      name: 'evaluations_unfinished_index',
      expression: `create index "evaluations_unfinished_index" on "evaluations" ("id") where "status" in ('scheduled', 'running', 'paused')`,
    },
    {
      name: 'evaluations_evaluator_secrets_index',
      expression: `create index "evaluations_evaluator_secrets_index" on "evaluations" ("id") where "evaluator_secrets" is not null`,
    },
    {
      name: 'evaluations_check_index',
      expression: `create index "evaluations_check_index" on "evaluations" ("check_at") where signal_pending or ${evaluationStates.in(UNFINISHED_EVALUATION)}`,
    },
  ],
  properties: {
    ...workspaceOwned,
    /** What its caller calls it. */
    name: p.text().nullable(),
    target: p.text().$type<EvaluationTarget>().default('prompt'),
    /** The name of the target: the prompt, or the name that a caller gave their code. */
    promptName: p.text(),
    promptVersion: p.integer(),
    /** The content of its version, and its includes, as they were when the run was created. */
    content: p.json<PromptContent>().columnType('jsonb'),
    includes: p.json<IncludeSet>().columnType('jsonb').defaultRaw(`'{}'`),
    model: p.text(),
    /** Called in order after the model before has failed permanently. */
    fallbackModels: p.array().$type<string[]>().columnType('text[]').default([]),
    /** The run whose outputs are scored, without calling the model: another one, or itself if they are those of executions. */
    sourceEvaluationId: p.uuid().nullable(),
    /** The maximum age, in seconds, of responses that this workspace paid for and that replace calls; null: none do. */
    reuseMaxAge: p.integer().nullable(),
    provider: p.text(),
    parameters: p.json<ModelParameters>().columnType('jsonb'),
    datasetName: p.text().nullable(),
    datasetVersion: p.integer().nullable(),
    /** The examples; null once their dataset was deleted. */
    examplesId: p.uuid().nullable(),
    examplesHash: p.blob().$type<Buffer>(),
    examplesTotal: p.integer(),
    evaluators: p.json<{ type: string; name: string; weight: number }[]>().columnType('jsonb'),
    /** The secrets of evaluators that sign requests: JSON of name to secret, encrypted. */
    evaluatorSecrets: p.blob().$type<Buffer>().nullable(),
    threshold: p.double().$type<number>(),
    /** Examples with at least this score count 1, others 0; null: they count their score. */
    exampleThreshold: p.double().$type<number>().nullable(),
    /** The executions that its examples were made from; null: none were. */
    fromExecutions: p.json<FromExecutions>().columnType('jsonb').nullable(),
    /** `previous`, `none`, `given`, or `recorded`: a run of recorded outputs that was stored with it. */
    baselineMode: p.text(),
    baselineId: p.uuid().nullable(),
    concurrency: p.integer(),
    /** As requested by its caller. */
    mode: oneOf<EvaluationMode>(EVALUATION_MODES).default('interactive'),
    /** Whether it calls its models in batches: `mode`, with `auto` decided at creation. Null if it does not. */
    batch: p.json<BatchSettings>().columnType('jsonb').nullable(),
    maxCost: p.decimal('string').columnType('numeric').nullable(),
    startAt: timestamp().nullable(),
    metadata: p.json<Record<string, string>>().columnType('jsonb'),
    scheduleId: p.uuid().nullable(),
    /** The improvement that started it, which reads its results: it is in no list, and writes no events. */
    improvementId: p.uuid().nullable(),
    status: oneOf(evaluationStates.states),
    /** Why it is paused, in words. */
    statusReason: p.text().nullable(),
    /** How often failed examples were retried; part of the workflow's id. */
    retries: p.integer().default(0),
    score: p.double().$type<number>().nullable(),
    scoresByEvaluator: p.json<Record<string, number>>().columnType('jsonb').nullable(),
    regressions: p.integer().nullable(),
    improvements: p.integer().nullable(),
    /** Counts, tokens, cost and latency as last summed up. */
    summary: p.json<EvaluationSummary>().columnType('jsonb').nullable(),
    /** The size of its results, as last summed up. */
    resultBytes: p.bigint('number').default(0),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    bytes: storedBytes(
      'evaluators::text',
      'parameters::text',
      'metadata::text',
      'status_reason',
      'scores_by_evaluator::text',
      'summary::text',
      'error::text',
    ),
    createdAt: timestamp(),
    /** When its creation was confirmed to the caller; a run that was never accepted is withdrawn instead of started. */
    acceptedAt: timestamp().nullable(),
    startedAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
    /** For a run whose results come from its caller's program: when the next results are due. Null if the service runs it. */
    resultsDueAt: timestamp().nullable(),
    /** The caller has changed it since its workflow read the row. */
    signalPending: p.boolean().default(false),
    /** When to check next that its workflow exists and has read the row. */
    checkAt: timestamp().defaultRaw("(now() + '00:00:30'::interval)"),
  },
});

/** The result of one example: one row per (run, example), so that a repeated batch skips existing ones. */
export const EvaluationResult = defineEntity({
  name: 'EvaluationResult',
  tableName: 'evaluation_results',
  triggers: resultUsageTriggers,
  // Usually few of many, and listed separately.
  indexes: [
    {
      name: 'evaluation_results_call_hash_index',
      expression: `create index "evaluation_results_call_hash_index" on "evaluation_results" ("call_hash") where "call_hash" is not null`,
    },
    ...Object.entries({
      failed: `"status" = 'failed'`,
      regression: '"regression"',
      improvement: '"improvement"',
    }).map(([name, condition]) => ({
      name: `evaluation_results_${name}_index`,
      expression: `create index "evaluation_results_${name}_index" on "evaluation_results" ("evaluation_id", "seq") where ${condition}`,
    })),
  ],
  properties: {
    evaluation: () => p.manyToOne(Evaluation).deleteRule('cascade').primary(),
    seq: p.integer().primary(),
    exampleKey: p.text(),
    variables: p.json<Record<string, JsonValue>>().columnType('jsonb'),
    expected: p.json<JsonValue>().columnType('jsonb').nullable(),
    status: oneOf(RESULT_STATUSES),
    output: p.text().nullable(),
    /** The tool calls that the model requested. */
    toolCalls: p.json<ToolCall[]>().columnType('jsonb').nullable(),
    /** The model that responded, or that failed last; null if none was called, and in rows from before fallback models. */
    model: p.text().nullable(),
    /** For an output that this run did not pay for: its original cost. */
    sourceCost: p.decimal('string').columnType('numeric').nullable(),
    /** The hash of what the model was sent, if this run paid for the output: others can reuse it. */
    callHash: p.blob().$type<Buffer>().nullable(),
    /** Public id of the execution or evaluation that paid for the output, if it was reused. */
    reusedFrom: p.text().nullable(),
    finishReason: p.text().nullable(),
    /** What was left out of the response, and what was sent in a different form. */
    notes: p.json<ResultNotes>().columnType('jsonb').nullable(),
    ...usageColumns,
    modelMs: p.integer().nullable(),
    attempts: p.integer().default(0),
    /** The number of the retry; 0: the run itself. */
    round: p.integer().default(0),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    /** By evaluator name: `{score, reason}`. A score of null: the evaluator gave none. */
    scores: p
      .json<Record<string, { score: number | null; reason: string | null; category?: string }>>()
      .columnType('jsonb')
      .nullable(),
    score: p.double().$type<number>().nullable(),
    baselineScore: p.double().$type<number>().nullable(),
    regression: p.boolean().nullable(),
    improvement: p.boolean().nullable(),
    bytes: storedBytes(
      'example_key',
      'variables::text',
      'expected::text',
      'output',
      'tool_calls::text',
      'scores::text',
      'error::text',
    ),
    createdAt: timestamp(),
  },
});

/** A judge's response about one example, stored separately from the example's output so that neither is paid for twice. */
export const EvaluationJudgement = defineEntity({
  name: 'EvaluationJudgement',
  tableName: 'evaluation_judgements',
  triggers: judgementUsageTriggers,
  properties: {
    evaluation: () => p.manyToOne(Evaluation).deleteRule('cascade').primary(),
    seq: p.integer().primary(),
    evaluator: p.text().primary(),
    /** Null if the provider's filter withheld it. */
    answer: p.text().nullable(),
    /** The number of calls of the judge, which is called once more after an unusable response. */
    asks: p.integer().default(1),
    ...usageColumns,
    createdAt: timestamp(),
  },
});
