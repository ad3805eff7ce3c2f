import { defineEntity, p } from '@mikro-orm/core';
import type { ErrorDetail } from '../../domain/errors.ts';
import { type ExecutionStatus, executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import type { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../../domain/prompts/prompt-content.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { StepType } from '../../domain/traces/step.ts';
import type { Pricing, TokenUsage } from '../../domain/usage.ts';
import { executionQueueTriggers } from '../queue-triggers.ts';
import { executionReleaseTriggers } from '../release-triggers.ts';
import { executionRuleTriggers } from '../rule-triggers.ts';
import { executionScoreTriggers } from '../score-triggers.ts';
import { executionStorageTriggers } from '../storage-triggers.ts';
import { executionUsageTriggers } from '../usage-triggers.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** The parts of a call's response that are not in other fields of the record. */
export interface CallNotes {
  /** Unknown kinds of parts and events, which were ignored. */
  skipped?: string[];
  /** The start of a response that could not be parsed. */
  response?: string;
  /** What was sent in a different form, or left out. */
  warnings?: ErrorDetail[];
}

/**
 * One call of a model, as stored. It has no `duration_ms` while it is in flight. `tokens` and `cost` (US dollars) are the billed
 * usage, null if unknown.
 */
export interface StoredCall extends CallNotes {
  model: string;
  started_at: string;
  duration_ms?: number | null;
  tokens?: TokenUsage | null;
  cost?: string | null;
  error?: { code: string; message: string } | null;
}

/**
 * One run of a prompt, or of a draft (without a version). The model's response is stored as soon as it arrives (`answeredAt`),
 * before the execution counts as completed, so that no retry pays for it again.
 */
export const Execution = defineEntity({
  name: 'Execution',
  tableName: 'executions',
  triggers: [
    ...executionUsageTriggers,
    ...executionReleaseTriggers,
    ...executionStorageTriggers,
    ...executionScoreTriggers,
    ...executionQueueTriggers,
    ...executionRuleTriggers,
  ],
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'promptName', 'id'] },
    { properties: ['workspaceId', 'promptName', 'status', 'id'] },
    // A prompt usually runs on few models: a search for another one would go through all of its runs in vain.
    { properties: ['workspaceId', 'promptName', 'model', 'id'] },
    { properties: ['workspaceId', 'status', 'id'] },
    { properties: ['workspaceId', 'model', 'id'] },
    {
      name: 'executions_call_hash_index',
      expression: `create index "executions_call_hash_index" on "executions" ("workspace_id", "call_hash", "finished_at") where ${executionStates.in(['completed'])} and "reused_from" is null`,
    },
    {
      name: 'executions_release_index',
      expression: `create index "executions_release_index" on "executions" ("workspace_id", "release_id", "id") where "release_id" is not null`,
    },
    {
      name: 'executions_finished_index',
      expression: `create index "executions_finished_index" on "executions" ("workspace_id", "finished_at") where "finished_at" is not null`,
    },
    {
      name: 'executions_recorded_index',
      expression: `create index "executions_recorded_index" on "executions" ("workspace_id", "id") where "recorded"`,
    },
    {
      name: 'executions_record_key_index',
      expression: `create unique index "executions_record_key_index" on "executions" ("workspace_id", "record_key") where "record_key" is not null`,
    },
    {
      name: 'executions_trace_index',
      expression: `create index "executions_trace_index" on "executions" ("workspace_id", "trace_id", "id") where "trace_id" is not null`,
    },
    {
      name: 'executions_check_index',
      expression: `create index "executions_check_index" on "executions" ("check_at") where ${executionStates.in(UNFINISHED_EXECUTION)}`,
    },
  ],
  properties: {
    ...workspaceOwned,
    /** Null for a draft without a prompt. */
    promptName: p.text().nullable(),
    /** Null for a draft. */
    promptVersion: p.integer().nullable(),
    /** The model that is called, or has responded. */
    model: p.text(),
    provider: p.text(),
    /** The model that was called first; null in rows of the first release, where it is `model`. */
    requestedModel: p.text().nullable(),
    /** The models left to try, in order, after `model` has failed permanently. */
    fallbackModels: p.array().defaultRaw("'{}'"),
    parameters: p.json<ModelParameters>().columnType('jsonb'),
    variables: p.json<Record<string, JsonValue>>().columnType('jsonb'),
    /** A filled template; null if the prompt is a list of messages. */
    input: p.text().nullable(),
    inputMessages: p.json<ChatMessage[]>().columnType('jsonb').nullable(),
    tools: p.json<Tool[]>().columnType('jsonb').nullable(),
    toolChoice: p.json<ToolChoice>().columnType('jsonb').nullable(),
    /** The includes of the texts, at any depth; null if there are none. */
    includes: p.json<{ name: string; version: number }[]>().columnType('jsonb').nullable(),
    metadata: p.json<Record<string, string>>().columnType('jsonb'),
    status: p.enum(() => Object.fromEntries(executionStates.states.map((s) => [s, s]))).$type<ExecutionStatus>(),
    attempts: p.integer().default(0),
    /** The number of `attempts` that called `model`. */
    modelAttempts: p.integer().default(0),
    /** The call of each attempt, in order. */
    calls: p.json<StoredCall[]>().columnType('jsonb').defaultRaw("'[]'"),
    /** Attempts whose tokens and cost are in the sums: two workers may have paid for the same call. */
    paidAttempts: p
      .array((text) => Number(text))
      .columnType('integer[]')
      .defaultRaw("'{}'"),
    output: p.text().nullable(),
    /** Null if the model requested no tool calls. */
    toolCalls: p.json<ToolCall[]>().columnType('jsonb').nullable(),
    finishReason: p.text().nullable(),
    tokensInput: p.bigint('number').default(0),
    tokensOutput: p.bigint('number').default(0),
    tokensCachedInput: p.bigint('number').default(0),
    tokensReasoning: p.bigint('number').default(0),
    costAmount: p.decimal('string').columnType('numeric').nullable(),
    pricing: p.json<Pricing>().columnType('jsonb').nullable(),
    modelMs: p.integer().nullable(),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    bytes: storedBytes(
      'input',
      'input_messages::text',
      'tools::text',
      'output',
      'tool_calls::text',
      'calls::text',
      'variables::text',
      'parameters::text',
      'metadata::text',
      'error::text',
    ),
    /** SHA-256 of what the model is sent, without the model: finds a response to reuse. */
    callHash: p.blob().$type<Buffer>().nullable(),
    /** The execution whose response this one reused without calling a model. */
    reusedFrom: p.uuid().nullable(),
    /** Whether the model's output is streamed as it arrives. */
    streamed: p.boolean().default(false),
    /** The label by which the version was requested; null: by number, or not at all. */
    label: p.text().nullable(),
    /** The release of its label that decided its version; null if none did. */
    releaseId: p.uuid().nullable(),
    releaseArm: p.text().$type<Arm>().nullable(),
    /** Whether the caller's `rollout_key` decided. Otherwise it was random. */
    releaseKeyed: p.boolean().nullable(),
    /** The step of the release that its numbers count for. Null if they do not count, because the request changed the content. */
    releaseStage: p.integer().nullable(),
    /** Whether an application made the run itself, and reported it afterwards. It then has no workflow, and has ended from the start. */
    recorded: p.boolean().default(false),
    /** The application's key for a recorded run, so that it is stored once; null: the id of the row serves as the key. */
    recordKey: p.text().nullable(),
    /** Its step in a trace: from the caller's `traceparent`, or from the recorded run or span. */
    traceId: p.uuid().nullable(),
    spanId: p.text().nullable(),
    parentId: p.text().nullable(),
    conversationId: p.text().nullable(),
    /** The step type of a run that an application recorded; null for a run of the service or a recorded span. */
    stepType: p.text().$type<StepType>().nullable(),
    /** For a recorded run: when it started. */
    createdAt: timestamp(),
    /** When a caller was first notified of it while it was queued; it cannot be withdrawn from then on. */
    acceptedAt: timestamp().nullable(),
    startedAt: timestamp().nullable(),
    answeredAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
    /** When to make sure that the workflow runs, unless it has ended by then. */
    checkAt: timestamp().defaultRaw("(now() + '00:00:30'::interval)"),
  },
});
