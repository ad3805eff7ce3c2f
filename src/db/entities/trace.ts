import { defineEntity, p } from '@mikro-orm/core';
import type { ChatMessage, ToolCall } from '../../domain/prompts/messages.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
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

/** The numbers of a trace that monitors and releases count. Times are ISO 8601. */
export interface CountedTrace {
  status: StepStatus;
  started_at: string;
  ended_at: string | null;
  /** US dollars. */
  cost_amount: string | null;
  tokens: number;
  steps: number;
  prompts: { name: string; version: number | null }[];
  /** The releases that chose versions of its executions. */
  arms: { release_id: string; stage: number; arm: Arm }[];
}

/** Why a trace is incomplete. */
export const TRACE_GAPS = ['root_missing', 'steps_over_limit'] as const;
export type TraceGap = (typeof TRACE_GAPS)[number];

/**
 * A tree of steps, summed up for lists. All of it is recalculated from its steps whenever some are stored, so their order does not matter
 * (`services/traces/sum-up-traces.ts`).
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
      name: 'traces_completed_index',
      expression: `create index "traces_completed_index" on "traces" ("workspace_id", "completed_at") where "completed_at" is not null`,
    },
    {
      name: 'traces_settle_index',
      expression: `create index "traces_settle_index" on "traces" ("workspace_id", "settle_at") where "settle_at" is not null`,
    },
  ],
  properties: {
    workspaceId: p.uuid().primary(),
    /** The 128 bits of OpenTelemetry's trace id, unique only within a workspace. */
    id: p.uuid().primary(),
    /** The name of the step without a parent; if there is none, of the earliest one whose parent is unknown. */
    name: p.text().nullable(),
    status: p.text().$type<StepStatus>(),
    startedAt: timestamp(),
    /** Null if its top step has not ended. */
    endedAt: timestamp().nullable(),
    steps: p.bigint('number').default(0),
    /** Executions among its steps. */
    calls: p.bigint('number').default(0),
    errors: p.bigint('number').default(0),
    tokensInput: p.bigint('number').default(0),
    tokensOutput: p.bigint('number').default(0),
    tokensCachedInput: p.bigint('number').default(0),
    tokensReasoning: p.bigint('number').default(0),
    /** US dollars. Null if the cost of every call is unknown. */
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
    /** The beginnings of the top step's input and output. */
    input: p.text().nullable(),
    output: p.text().nullable(),
    incomplete: p.array().$type<TraceGap[]>().columnType('text[]').defaultRaw("'{}'"),
    /** The sum of its steps' bytes. */
    bytes: p.bigint('number').default(0),
    /** Days since 1970 of the partitions with its steps. */
    firstDay: p.bigint('number'),
    lastDay: p.bigint('number'),
    /** When it is settled, unless more steps arrive before then. Null if it is settled. */
    settleAt: timestamp().nullable(),
    /** When `trace.completed` was written. */
    completedAt: timestamp().nullable(),
    /** A hash that names what was last settled: it changes with the steps of the trace. Null if it never was. */
    settledAs: p.text().nullable(),
    /** The numbers that monitors and releases have counted. Null if it never settled. */
    counted: p.json<CountedTrace>().columnType('jsonb').nullable(),
  },
});

/** What a workspace keeps of traces and recorded runs. Without a row, the default applies. */
export const TracePolicyOf = defineEntity({
  name: 'TracePolicy',
  tableName: 'trace_policies',
  properties: {
    workspaceId: p.uuid().primary(),
    policy: p.json<TracePolicy>().columnType('jsonb'),
    updatedAt: timestamp(),
  },
});

/** The parts of a step that are read only with that step. */
export interface StepContent {
  /** Only for a step without an execution. */
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
 * A span. The migration partitions the table by `day`, which MikroORM's snapshot can't express: `services/traces/partitions.ts` creates the
 * partition of a day with its first step, and drops it when it has expired. The key is the only index.
 */
export const TraceStep = defineEntity({
  name: 'TraceStep',
  tableName: 'trace_steps',
  properties: {
    workspaceId: p.uuid().primary(),
    traceId: p.uuid().primary(),
    /** 16 hexadecimal digits. */
    spanId: p.text().primary(),
    /** The UTC day on which it started, since 1970. */
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
    /** As reported by the span, including the steps below it. */
    tokens: p.json<StepTokens>().columnType('jsonb').nullable(),
    /** The same without the steps below it. Null if unknown, or without such steps. */
    ownTokens: p.json<StepTokens>().columnType('jsonb').nullable(),
    /** US dollars, as reported by the span. */
    costAmount: p.decimal('string').columnType('numeric').nullable(),
    /** The execution with its texts and cost. It may have been deleted since. */
    executionId: p.uuid().nullable(),
    promptName: p.text().nullable(),
    promptVersion: p.bigint('number').nullable(),
    conversationId: p.text().nullable(),
    userId: p.text().nullable(),
    service: p.text().nullable(),
    environment: p.text().nullable(),
    tags: p.array().$type<string[]>().columnType('text[]').nullable(),
    metadata: p.json<Record<string, string>>().columnType('jsonb').nullable(),
    /** The beginnings of its texts, if it may be at the top. */
    inputHead: p.text().nullable(),
    outputHead: p.text().nullable(),
    hasInput: p.boolean(),
    hasOutput: p.boolean(),
    cut: p.array().$type<string[]>().columnType('text[]').defaultRaw("'{}'"),
    /** Whether the sender marked the trace as ended. */
    complete: p.boolean(),
    content: p.json<StepContent>().columnType('jsonb'),
    /** Bytes of `content` as JSON and of the rest of the row. */
    bytes: p.bigint('number'),
  },
});
