import { defineEntity, p } from '@mikro-orm/core';
import type { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import type {
  Attributes,
  Step,
  StepEvent,
  StepLink,
  StepStatus,
  StepTokens,
  StepType,
} from '../../domain/traces/step.ts';
import type { TracePolicy } from '../../domain/traces/trace-policy.ts';
import { traceScoreTriggers } from '../score-triggers.ts';
import { traceStorageTriggers } from '../storage-triggers.ts';
import { timestamp } from './workspace-owned.ts';

/** What is missing of a trace. */
export const TRACE_GAPS = ['root_missing', 'steps_over_limit'] as const;
export type TraceGap = (typeof TRACE_GAPS)[number];

/**
 * A tree of steps, summed up: what lists read. All of it is worked out again from its steps whenever some are stored, so their order does not
 * matter (`services/traces/sum-up-traces.ts`).
 */
export const Trace = defineEntity({
  name: 'Trace',
  tableName: 'traces',
  triggers: [...traceScoreTriggers, ...traceStorageTriggers],
  indexes: [
    { properties: ['workspaceId', 'startedAt', 'id'] },
    { properties: ['workspaceId', 'name', 'startedAt', 'id'] },
    { properties: ['startedAt'] },
    {
      name: 'traces_conversation_index',
      expression: `create index "traces_conversation_index" on "traces" ("workspace_id", "conversation_id", "started_at", "id") where "conversation_id" is not null`,
    },
    {
      name: 'traces_user_index',
      expression: `create index "traces_user_index" on "traces" ("workspace_id", "user_id", "started_at", "id") where "user_id" is not null`,
    },
    {
      name: 'traces_settle_index',
      expression: `create index "traces_settle_index" on "traces" ("workspace_id", "settle_at") where "settle_at" is not null`,
    },
  ],
  properties: {
    workspaceId: p.uuid().primary(),
    /** The 128 bits of OpenTelemetry's trace id. Only the workspace and it together are unique. */
    id: p.uuid().primary(),
    /** Of the step without a parent; where there is none, of the earliest one whose parent is not known. */
    name: p.text().nullable(),
    status: p.text().$type<StepStatus>(),
    startedAt: timestamp(),
    /** Null: its top step has not ended. */
    endedAt: timestamp().nullable(),
    steps: p.bigint('number').default(0),
    /** Executions among them. */
    calls: p.bigint('number').default(0),
    errors: p.bigint('number').default(0),
    tokensInput: p.bigint('number').default(0),
    tokensOutput: p.bigint('number').default(0),
    tokensCachedInput: p.bigint('number').default(0),
    tokensReasoning: p.bigint('number').default(0),
    /** US dollars. Null: nothing is known of any call. */
    costAmount: p.decimal('string').columnType('numeric').nullable(),
    unpricedCalls: p.bigint('number').default(0),
    models: p.array().$type<string[]>().columnType('text[]').defaultRaw("'{}'"),
    tools: p.array().$type<string[]>().columnType('text[]').defaultRaw("'{}'"),
    agents: p.array().$type<string[]>().columnType('text[]').defaultRaw("'{}'"),
    prompts: p.json<{ name: string; version: number | null }[]>().columnType('jsonb').defaultRaw("'[]'"),
    conversationId: p.text().nullable(),
    userId: p.text().nullable(),
    service: p.text().nullable(),
    environment: p.text().nullable(),
    tags: p.array().$type<string[]>().columnType('text[]').defaultRaw("'{}'"),
    metadata: p.json<Record<string, string>>().columnType('jsonb').defaultRaw("'{}'"),
    /** The beginning of what the top step got, and of what came of it. */
    input: p.text().nullable(),
    output: p.text().nullable(),
    incomplete: p.array().$type<TraceGap[]>().columnType('text[]').defaultRaw("'{}'"),
    /** Of the contents of its steps. */
    bytes: p.bigint('number').default(0),
    /** Days since 1970 of the partitions that have its steps. */
    firstDay: p.bigint('number'),
    lastDay: p.bigint('number'),
    /** When it is looked at for the last time, unless more of it comes until then. Null: it was. */
    settleAt: timestamp().nullable(),
    /** When `trace.completed` was written. */
    completedAt: timestamp().nullable(),
  },
});

/** What a workspace keeps of traces and recorded runs. None: the default. */
export const TracePolicyOf = defineEntity({
  name: 'TracePolicy',
  tableName: 'trace_policies',
  properties: {
    workspaceId: p.uuid().primary(),
    policy: p.json<TracePolicy>().columnType('jsonb'),
    updatedAt: timestamp(),
  },
});

/** What of a step is read by itself alone. */
export interface StepContent {
  /** Of one that is no execution. */
  input?: string | ChatMessage[] | undefined;
  output?: string | undefined;
  toolCalls?: ToolCall[] | undefined;
  parameters?: Attributes | undefined;
  attributes?: Attributes | undefined;
  resource?: Attributes | undefined;
  events?: StepEvent[] | undefined;
  links?: StepLink[] | undefined;
  scope?: Step['scope'] | undefined;
}

/**
 * A span. The migration partitions the table by `day`, which MikroORM's snapshot can't express: `services/traces/partitions.ts` makes the
 * partition of a day when its first step comes, and drops it when it has expired. There is no index but the key.
 */
export const TraceStep = defineEntity({
  name: 'TraceStep',
  tableName: 'trace_steps',
  properties: {
    workspaceId: p.uuid().primary(),
    traceId: p.uuid().primary(),
    /** 16 hexadecimal digits. */
    spanId: p.text().primary(),
    /** Of UTC on which it began, since 1970. */
    day: p.bigint('number').primary(),
    parentId: p.text().nullable(),
    type: p.text().$type<StepType>(),
    name: p.text(),
    status: p.text().$type<StepStatus>(),
    error: p.text().nullable(),
    errorType: p.text().nullable(),
    /** Microseconds since 1970. */
    startedUs: p.bigint('number'),
    endedUs: p.bigint('number').nullable(),
    model: p.text().nullable(),
    provider: p.text().nullable(),
    tool: p.text().nullable(),
    agent: p.text().nullable(),
    /** As the span has them, those of the steps below it included. */
    tokens: p.json<StepTokens>().columnType('jsonb').nullable(),
    /** The same without those of the steps below it. Null: it is not known yet, or there are none. */
    ownTokens: p.json<StepTokens>().columnType('jsonb').nullable(),
    /** US dollars, as the span has it. */
    costAmount: p.decimal('string').columnType('numeric').nullable(),
    /** The execution that has its texts and its cost. It may have been deleted since. */
    executionId: p.uuid().nullable(),
    promptName: p.text().nullable(),
    promptVersion: p.bigint('number').nullable(),
    conversationId: p.text().nullable(),
    userId: p.text().nullable(),
    service: p.text().nullable(),
    environment: p.text().nullable(),
    tags: p.array().$type<string[]>().columnType('text[]').nullable(),
    metadata: p.json<Record<string, string>>().columnType('jsonb').nullable(),
    /** Of one that may be at the top: the beginnings of its texts. */
    inputHead: p.text().nullable(),
    outputHead: p.text().nullable(),
    hasInput: p.boolean(),
    hasOutput: p.boolean(),
    cut: p.array().$type<string[]>().columnType('text[]').defaultRaw("'{}'"),
    /** Whether the sender said with it that the trace has ended. */
    complete: p.boolean(),
    content: p.json<StepContent>().columnType('jsonb'),
    /** Of `content` as JSON, and what the row takes beside it. */
    bytes: p.bigint('number'),
  },
});
