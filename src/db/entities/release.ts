import { defineEntity, p } from '@mikro-orm/core';
import type {
  ReleaseActor,
  ReleaseApproval,
  ReleaseDecision,
  ReleaseStep,
  StoredStep,
} from '../../domain/releases/release.ts';
import { type ReleaseStatus, releaseStates, UNFINISHED_RELEASE } from '../../domain/releases/release-states.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import { releaseStorageTriggers } from '../storage-triggers.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/**
 * The rollout of a prompt's version to a label, in steps. The label's row decides who gets the version; the workflow only
 * advances rows, and reads this one whenever it is signaled that something changed.
 */
export const Release = defineEntity({
  name: 'Release',
  tableName: 'releases',
  triggers: releaseStorageTriggers,
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'promptName', 'id'] },
    {
      name: 'releases_active_index',
      expression: `create unique index "releases_active_index" on "releases" ("prompt_id", "label") where ${releaseStates.in(UNFINISHED_RELEASE)}`,
    },
    {
      name: 'releases_check_index',
      expression: `create index "releases_check_index" on "releases" ("check_at") where "signal_pending" or ${releaseStates.in(UNFINISHED_RELEASE)}`,
    },
  ],
  properties: {
    ...workspaceOwned,
    promptId: p.uuid(),
    promptName: p.text(),
    label: p.text(),
    stableVersion: p.integer(),
    candidateVersion: p.integer(),
    steps: p.json<StoredStep[]>().columnType('jsonb'),
    /** The current step, from 0; the last one when it has ended. */
    step: p.integer().default(0),
    /** 0–100: the share that gets the candidate now. */
    percent: p.double().$type<number>().default(0),
    salt: p.text(),
    /** The step since which the share is unchanged. */
    stage: p.integer().default(0),
    status: p.enum(() => Object.fromEntries(releaseStates.states.map((s) => [s, s]))).$type<ReleaseStatus>(),
    statusReason: p.text().nullable(),
    /** The caller's reason. */
    reason: p.text().nullable(),
    metadata: p.json<Record<string, string>>().columnType('jsonb'),
    /** Rolls back if it is not promoted by then. */
    deadline: timestamp().nullable(),
    approvals: p.json<ReleaseApproval[]>().columnType('jsonb').defaultRaw("'[]'"),
    decisions: p.json<ReleaseDecision[]>().columnType('jsonb').defaultRaw("'[]'"),
    /** The latest evaluation of the candidate. */
    evaluationId: p.uuid().nullable(),
    createdBy: p.json<ReleaseActor>().columnType('jsonb'),
    /** Public ids of keys whose approvals do not count with `exclude_author`: those that created the version or started the release. */
    authors: p.array().default([]),
    bytes: storedBytes('steps::text', 'approvals::text', 'decisions::text', 'metadata::text', 'reason'),
    createdAt: timestamp(),
    /** When the label moved. */
    promotedAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
    /** Whether the workflow still has to notice the last change. */
    signalPending: p.boolean().default(false),
    /** When to make sure that the workflow runs. */
    checkAt: timestamp().defaultRaw("(now() + '00:00:10'::interval)"),
  },
});

/** How a label moves, on every prompt. */
export const LabelPolicy = defineEntity({
  name: 'LabelPolicy',
  tableName: 'label_policies',
  uniques: [{ properties: ['workspaceId', 'label'] }],
  properties: {
    ...workspaceOwned,
    label: p.text(),
    steps: p.json<ReleaseStep[]>().columnType('jsonb'),
    /** Whether it moves only by releases. */
    required: p.boolean(),
    updatedAt: timestamp(),
  },
});

/**
 * An ended execution of a release, or a settled trace with executions of one. Written by a trigger of `executions` (`db/release-triggers.ts`) and
 * when traces settle; soon added to the sums and deleted.
 */
export const ReleaseEntry = defineEntity({
  name: 'ReleaseEntry',
  tableName: 'release_entries',
  indexes: [{ properties: ['releaseId'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    workspaceId: p.uuid(),
    releaseId: p.uuid(),
    stage: p.integer(),
    arm: p.text().$type<Arm>(),
    /** -1 subtracts an entry of a trace: its numbers have changed since. */
    sign: p.bigint('number').default(1),
    createdAt: timestamp(),
    /** For a trace, whether its executions of the release are of `one` arm, or of `both`, which says nothing about either; null for an execution. */
    ofTrace: p.text().$type<'one' | 'both'>().nullable(),
    failed: p.boolean(),
    /** Whether a fallback model answered. */
    fellBack: p.boolean(),
    /** Whether an earlier response was reused, which says nothing about the version's cost and latency. */
    reused: p.boolean(),
    /** From creation to end; null if it failed. */
    latencyMs: p.double().$type<number>().nullable(),
    /** US dollars; null if unknown. */
    cost: p.double().$type<number>().nullable(),
    tokens: p.bigint('number'),
  },
});

/** The measures of an execution: their number (`count`), and the sums of their values and squares. The measures of traces begin with `trace:`. */
export const RELEASE_MEASURES = ['error', 'fallback', 'reused', 'cost', 'latency', 'tokens'] as const;

/**
 * Sums over executions of a release, by minute, and for a whole stage (with `startsAt` at the start of 1970). Kept when the
 * executions are deleted.
 */
export const ReleaseSum = defineEntity({
  name: 'ReleaseSum',
  tableName: 'release_sums',
  indexes: [{ properties: ['startsAt'] }],
  properties: {
    releaseId: p.uuid().primary(),
    stage: p.integer().primary(),
    arm: p.text().$type<Arm>().primary(),
    startsAt: timestamp().primary(),
    /** One of `RELEASE_MEASURES`, or `score:NAME`. */
    measure: p.text().primary(),
    /** For a latency; otherwise 0. */
    bucket: p.integer().primary(),
    workspaceId: p.uuid(),
    count: p.bigint('number'),
    total: p.double().$type<number>(),
    squares: p.double().$type<number>(),
  },
});
