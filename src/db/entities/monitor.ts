import { defineEntity, p } from '@mikro-orm/core';
import type { CheckProgress, MonitorCheck } from '../../domain/monitors/monitor.ts';
import { type MonitorState, monitorStates } from '../../domain/monitors/monitor-states.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

const stateEnum = () => p.enum(() => Object.fromEntries(monitorStates.states.map((s) => [s, s]))).$type<MonitorState>();

/** A standing analysis of what runs in a workspace, over a sliding window. Workers look at it once a minute. */
export const Monitor = defineEntity({
  name: 'Monitor',
  tableName: 'monitors',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    /** Null: of all prompts, and of drafts. */
    promptName: p.text().nullable(),
    /** By which a version was asked for; null: by any or none. */
    label: p.text().nullable(),
    /** As it was given, such as `15m`. */
    window: p.text(),
    checks: p.json<MonitorCheck[]>().columnType('jsonb'),
    notify: p.json<{ email: boolean }>().columnType('jsonb'),
    enabled: p.boolean(),
    state: stateEnum(),
    /** When the monitor entered this state. */
    since: timestamp(),
    /** What the last look has seen, in the order of the checks. */
    progress: p.json<CheckProgress[]>().columnType('jsonb').defaultRaw("'[]'"),
    /** At how many looks in a row there was nothing to see. */
    silent: p.integer().default(0),
    /** Grows with each look and each change: who writes proves that nobody else has written since. */
    revision: p.integer().default(0),
    lastCheckedAt: timestamp().nullable(),
    bytes: storedBytes('checks::text', 'progress::text'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/** A change of a monitor's state. */
export const MonitorChange = defineEntity({
  name: 'MonitorChange',
  tableName: 'monitor_changes',
  indexes: [{ properties: ['workspaceId', 'monitor', 'id'] }],
  properties: {
    ...workspaceOwned,
    monitor: () => p.manyToOne(Monitor).deleteRule('cascade'),
    previousState: stateEnum(),
    state: stateEnum(),
    /** In words. */
    reason: p.text(),
    /** What was seen, in the order of the checks. */
    progress: p.json<CheckProgress[]>().columnType('jsonb'),
    createdAt: timestamp(),
  },
});

/** What is counted of a run that has ended, beside `score:NAME`: how often (`count`), and the sums of its values and their squares. */
export const RUN_MEASURES = ['error', 'refusal', 'cost', 'latency'] as const;

/**
 * Sums over the runs that ended, and the scores of runs that were given, in a minute, by prompt and label. Only workspaces with monitors have them, and no longer than monitors look back.
 */
export const RunMinute = defineEntity({
  name: 'RunMinute',
  tableName: 'run_minutes',
  indexes: [{ properties: ['startsAt'] }],
  properties: {
    workspaceId: p.uuid().primary(),
    /** One of `RUN_MEASURES`, or `score:NAME`. */
    measure: p.text().primary(),
    startsAt: timestamp().primary(),
    /** Empty: of no prompt. */
    promptName: p.text().primary(),
    /** By which the version was asked for; empty: by none. */
    label: p.text().primary(),
    /** Of a latency; else 0. */
    bucket: p.integer().primary(),
    count: p.bigint('number'),
    total: p.double().$type<number>(),
    squares: p.double().$type<number>(),
  },
});

/** A workspace that has, or had, monitors. */
export const MonitoredWorkspace = defineEntity({
  name: 'MonitoredWorkspace',
  tableName: 'monitored_workspaces',
  indexes: [{ properties: ['checkAt'] }],
  properties: {
    workspaceId: p.uuid().primary(),
    /** Until when its runs are summed up; null: not yet. */
    summedUntil: timestamp().nullable(),
    /** When its monitors are next looked at; until then one process is at it, or nobody has to. */
    checkAt: timestamp(),
  },
});
