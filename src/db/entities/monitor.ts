import { defineEntity, p } from '@mikro-orm/core';
import type { CheckProgress, MonitorCheck } from '../../domain/monitors/monitor.ts';
import { type MonitorState, monitorStates } from '../../domain/monitors/monitor-states.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

const stateEnum = () => p.enum(() => Object.fromEntries(monitorStates.states.map((s) => [s, s]))).$type<MonitorState>();

/** A continuous analysis of the runs of a workspace, over a sliding window. Workers check it once a minute. */
export const Monitor = defineEntity({
  name: 'Monitor',
  tableName: 'monitors',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    /** Null for all prompts and drafts. */
    promptName: p.text().nullable(),
    /** The label by which a version was requested; null: any or none. */
    label: p.text().nullable(),
    /** As written by the caller, such as `15m`. */
    window: p.text(),
    checks: p.json<MonitorCheck[]>().columnType('jsonb'),
    notify: p.json<{ email: boolean }>().columnType('jsonb'),
    enabled: p.boolean(),
    state: stateEnum(),
    /** When the monitor entered this state. */
    since: timestamp(),
    /** The results of the last measurement, in the order of the checks. */
    progress: p.json<CheckProgress[]>().columnType('jsonb').defaultRaw("'[]'"),
    /** The number of consecutive measurements without any result. */
    silent: p.integer().default(0),
    /** Incremented at each measurement and change: a writer verifies that it has not changed since. */
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
    /** The measured values, in the order of the checks. */
    progress: p.json<CheckProgress[]>().columnType('jsonb'),
    createdAt: timestamp(),
  },
});

/** The measures of an ended run, except `score:NAME`: their number (`count`), and the sums of their values and squares. */
export const RUN_MEASURES = ['error', 'refusal', 'cost', 'latency'] as const;

/**
 * Sums over the runs that ended in a minute, and the scores submitted for runs, by prompt and label. Only workspaces with
 * monitors have them, for as long as monitors look back.
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
    /** Empty: no prompt. */
    promptName: p.text().primary(),
    /** The label by which the version was requested; empty: none. */
    label: p.text().primary(),
    /** For a latency; otherwise 0. */
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
    /** The time up to which its runs are summed up; null: not yet. */
    summedUntil: timestamp().nullable(),
    /** When its monitors are checked next; until then one process is checking them, or none needs to. */
    checkAt: timestamp(),
  },
});
