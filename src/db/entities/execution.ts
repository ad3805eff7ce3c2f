import { defineEntity, p } from '@mikro-orm/core';
import { type ExecutionStatus, executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { Pricing } from '../../domain/usage.ts';
import { executionUsageTriggers } from '../usage-triggers.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/**
 * One run of a prompt. The model's response is stored as soon as it arrives (`answeredAt`),
 * before the execution counts as completed, so that no retry pays for it again.
 */
export const Execution = defineEntity({
  name: 'Execution',
  tableName: 'executions',
  triggers: executionUsageTriggers,
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'promptName', 'id'] },
    { properties: ['workspaceId', 'promptName', 'status', 'id'] },
    // A prompt runs on few models, as a rule: with another one there is nothing to find among all of its runs.
    { properties: ['workspaceId', 'promptName', 'model', 'id'] },
    { properties: ['workspaceId', 'status', 'id'] },
    { properties: ['workspaceId', 'model', 'id'] },
    {
      name: 'executions_check_index',
      expression: `create index "executions_check_index" on "executions" ("check_at") where ${executionStates.in(UNFINISHED_EXECUTION)}`,
    },
  ],
  properties: {
    ...workspaceOwned,
    promptName: p.text(),
    promptVersion: p.integer(),
    model: p.text(),
    provider: p.text(),
    parameters: p.json<ModelParameters>().columnType('jsonb'),
    variables: p.json<Record<string, JsonValue>>().columnType('jsonb'),
    input: p.text(),
    metadata: p.json<Record<string, string>>().columnType('jsonb'),
    status: p.enum(() => Object.fromEntries(executionStates.states.map((s) => [s, s]))).$type<ExecutionStatus>(),
    attempts: p.integer().default(0),
    /** Attempts whose tokens and cost are in the sums: two workers may have paid for the same call. */
    paidAttempts: p
      .array((text) => Number(text))
      .columnType('integer[]')
      .defaultRaw("'{}'"),
    output: p.text().nullable(),
    finishReason: p.text().nullable(),
    tokensInput: p.bigint('number').default(0),
    tokensOutput: p.bigint('number').default(0),
    tokensCachedInput: p.bigint('number').default(0),
    tokensReasoning: p.bigint('number').default(0),
    costAmount: p.decimal('string').columnType('numeric').nullable(),
    pricing: p.json<Pricing>().columnType('jsonb').nullable(),
    modelMs: p.integer().nullable(),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    bytes: storedBytes('input', 'output', 'variables::text', 'parameters::text', 'metadata::text', 'error::text'),
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
