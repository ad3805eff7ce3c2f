import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import type { Pricing } from '../../domain/usage.ts';
import { ownedByWorkspace, timestamp, workspaceOwned } from './workspace-owned.ts';

export const EXECUTION_STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/**
 * One run of a prompt. The model's answer is stored as soon as it is there (`answeredAt`),
 * before the execution counts as completed, so that no retry pays for it again.
 */
export const Execution = defineEntity({
  name: 'Execution',
  tableName: 'executions',
  filters: ownedByWorkspace,
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'promptName', 'id'] },
    {
      name: 'executions_unfinished_index',
      expression: `create index "executions_unfinished_index" on "executions" ("id") where "status" in ('queued', 'running')`,
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
    status: p.enum(() => Object.fromEntries(EXECUTION_STATUSES.map((s) => [s, s]))).$type<ExecutionStatus>(),
    attempts: p.integer().default(0),
    output: p.text().nullable(),
    finishReason: p.text().nullable(),
    tokensInput: p.integer().default(0),
    tokensOutput: p.integer().default(0),
    tokensCachedInput: p.integer().default(0),
    tokensReasoning: p.integer().default(0),
    costAmount: p.decimal('string').columnType('numeric').nullable(),
    pricing: p.json<Pricing>().columnType('jsonb').nullable(),
    modelMs: p.integer().nullable(),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    createdAt: timestamp(),
    startedAt: timestamp().nullable(),
    answeredAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
    /** When the relay last made sure that the workflow runs. */
    checkedAt: timestamp().nullable(),
  },
});

export type Execution = InferEntity<typeof Execution>;
