import { defineEntity, p } from '@mikro-orm/core';
import type { JsonValue } from '../../domain/text/json.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A recurring evaluation. Temporal decides when it is due; this row says what to run. */
export const Schedule = defineEntity({
  name: 'Schedule',
  tableName: 'schedules',
  indexes: [{ properties: ['workspaceId', 'id'] }, { properties: ['checkAt'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    cron: p.text(),
    timeZone: p.text(),
    paused: p.boolean().default(false),
    /** What to run: `body` as written by the caller, `parsed` as a `NewEvaluation`. */
    request: p.json<{ body: JsonValue; parsed: object }>().columnType('jsonb'),
    /** The secrets of its evaluators, like those of an evaluation. */
    evaluatorSecrets: p.blob().$type<Buffer>().nullable(),
    /** Why the last start failed; null once a start succeeds. */
    lastError: p.json<{ code: string; message: string; at: string }>().columnType('jsonb').nullable(),
    bytes: storedBytes('name', 'request::text', 'last_error::text'),
    createdAt: timestamp(),
    /** When its creation was confirmed to the caller; until then it starts nothing. */
    acceptedAt: timestamp().nullable(),
    /** When to check next whether Temporal still has it. */
    checkAt: timestamp().defaultRaw("(now() + '00:01:00'::interval)"),
  },
});

/**
 * One time at which a schedule was due or triggered, with the evaluation that it started: it starts only one, however often the
 * step is retried.
 */
export const ScheduleOccurrence = defineEntity({
  name: 'ScheduleOccurrence',
  tableName: 'schedule_occurrences',
  indexes: [{ properties: ['createdAt'] }],
  properties: {
    schedule: () => p.manyToOne(Schedule).deleteRule('cascade').primary(),
    /** The workflow that Temporal started for it. */
    workflowId: p.text().primary(),
    workspaceId: workspaceOwned.workspaceId,
    evaluationId: p.uuid(),
    createdAt: timestamp(),
  },
});
