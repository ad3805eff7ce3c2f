import { defineEntity, p } from '@mikro-orm/core';
import type { ErrorDetail } from '../../domain/errors.ts';
import { type ExecutionStatus, executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import type { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../domain/prompts/parameters.ts';
import type { Tool, ToolChoice } from '../../domain/prompts/prompt-content.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { Pricing, TokenUsage } from '../../domain/usage.ts';
import { executionQueueTriggers } from '../queue-triggers.ts';
import { executionReleaseTriggers } from '../release-triggers.ts';
import { executionRuleTriggers } from '../rule-triggers.ts';
import { executionScoreTriggers } from '../score-triggers.ts';
import { executionStorageTriggers } from '../storage-triggers.ts';
import { executionUsageTriggers } from '../usage-triggers.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** What of a call's response is not in the record's other fields. */
export interface CallNotes {
  /** Kinds of parts and events that are not known, and were left out. */
  skipped?: string[];
  /** The beginning of a response that was not understood. */
  response?: string;
  /** What was sent in another way than it was given, or left out. */
  warnings?: ErrorDetail[];
}

/**
 * One call of a model, as it is stored. While it is in flight it has no `duration_ms`.
 * `tokens` and `cost` (US dollars): what it was billed, null where that is not known.
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
    // A prompt runs on few models, as a rule: with another one there is nothing to find among all of its runs.
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
      name: 'executions_check_index',
      expression: `create index "executions_check_index" on "executions" ("check_at") where ${executionStates.in(UNFINISHED_EXECUTION)}`,
    },
  ],
  properties: {
    ...workspaceOwned,
    /** Null: a draft that was run on its own. */
    promptName: p.text().nullable(),
    /** Null: a draft. */
    promptVersion: p.integer().nullable(),
    /** The one that is called, or has responded. */
    model: p.text(),
    provider: p.text(),
    /** The one that was called first; null in rows of the first release, where it is `model`. */
    requestedModel: p.text().nullable(),
    /** Those that are left to try, in their order, when `model` has failed for good. */
    fallbackModels: p.array().defaultRaw("'{}'"),
    parameters: p.json<ModelParameters>().columnType('jsonb'),
    variables: p.json<Record<string, JsonValue>>().columnType('jsonb'),
    /** A filled template; null where the prompt is a list of messages. */
    input: p.text().nullable(),
    inputMessages: p.json<ChatMessage[]>().columnType('jsonb').nullable(),
    tools: p.json<Tool[]>().columnType('jsonb').nullable(),
    toolChoice: p.json<ToolChoice>().columnType('jsonb').nullable(),
    /** What the texts include, at any depth; null: nothing. */
    includes: p.json<{ name: string; version: number }[]>().columnType('jsonb').nullable(),
    metadata: p.json<Record<string, string>>().columnType('jsonb'),
    status: p.enum(() => Object.fromEntries(executionStates.states.map((s) => [s, s]))).$type<ExecutionStatus>(),
    attempts: p.integer().default(0),
    /** Of `attempts` those that called `model`. */
    modelAttempts: p.integer().default(0),
    /** Each attempt's call, in their order. */
    calls: p.json<StoredCall[]>().columnType('jsonb').defaultRaw("'[]'"),
    /** Attempts whose tokens and cost are in the sums: two workers may have paid for the same call. */
    paidAttempts: p
      .array((text) => Number(text))
      .columnType('integer[]')
      .defaultRaw("'{}'"),
    output: p.text().nullable(),
    /** Null: the model asked for no tool. */
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
    /** SHA-256 of what the model is sent, the model aside: finds a response that can be reused. */
    callHash: p.blob().$type<Buffer>().nullable(),
    /** The execution whose response this one has, which called no model. */
    reusedFrom: p.uuid().nullable(),
    /** Whether what the model says is passed on as it comes. */
    streamed: p.boolean().default(false),
    /** By which the version was asked for; null: by its number, or not at all. */
    label: p.text().nullable(),
    /** The release of its label that decided its version; null: none did. */
    releaseId: p.uuid().nullable(),
    releaseArm: p.text().$type<Arm>().nullable(),
    /** Whether the caller's `rollout_key` decided. Else it was chosen at random. */
    releaseKeyed: p.boolean().nullable(),
    /** The step of the release that its numbers count for. Null: they don't, since the request changed what is run. */
    releaseStage: p.integer().nullable(),
    /** Whether an application made the run itself, and told of it afterwards. It then has no workflow, and its end from the beginning. */
    recorded: p.boolean().default(false),
    /** What the application calls a recorded run, so that it is stored once; null: the id of the row does so. */
    recordKey: p.text().nullable(),
    /** Of a recorded run: when it began. */
    createdAt: timestamp(),
    /** When a caller was first told of it while it was queued; nobody may withdraw it from then on. */
    acceptedAt: timestamp().nullable(),
    startedAt: timestamp().nullable(),
    answeredAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
    /** When to make sure that the workflow runs, unless it has ended by then. */
    checkAt: timestamp().defaultRaw("(now() + '00:00:30'::interval)"),
  },
});
