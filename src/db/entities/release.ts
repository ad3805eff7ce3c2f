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
 * The way of a prompt's version to a label, by steps. Who gets the version is in the label's row; the workflow only moves rows on, and
 * reads this one whenever it gets a signal that something changed.
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
    /** The step that it is at, from 0; the last one when it has ended. */
    step: p.integer().default(0),
    /** 0–100: the share that gets the candidate now. */
    percent: p.double().$type<number>().default(0),
    salt: p.text(),
    /** The step since which the share is as it is. */
    stage: p.integer().default(0),
    status: p.enum(() => Object.fromEntries(releaseStates.states.map((s) => [s, s]))).$type<ReleaseStatus>(),
    statusReason: p.text().nullable(),
    /** The caller's. */
    reason: p.text().nullable(),
    metadata: p.json<Record<string, string>>().columnType('jsonb'),
    /** Rolls back where it is not promoted by then. */
    deadline: timestamp().nullable(),
    approvals: p.json<ReleaseApproval[]>().columnType('jsonb').defaultRaw("'[]'"),
    decisions: p.json<ReleaseDecision[]>().columnType('jsonb').defaultRaw("'[]'"),
    /** The last evaluation of the candidate. */
    evaluationId: p.uuid().nullable(),
    createdBy: p.json<ReleaseActor>().columnType('jsonb'),
    /** Public ids of keys that do not count where `exclude_author` is set: who made the version, and who started the release. */
    authors: p.array().default([]),
    bytes: storedBytes('steps::text', 'approvals::text', 'decisions::text', 'metadata::text', 'reason'),
    createdAt: timestamp(),
    /** When the label moved. */
    promotedAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
    /** Whether the workflow has yet to learn of the last change. */
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
    /** Whether it moves by releases alone. */
    required: p.boolean(),
    updatedAt: timestamp(),
  },
});

/**
 * An execution of a release that has ended. A trigger of `executions` writes it (`db/release-triggers.ts`); it is soon added to the
 * sums, and gone.
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
    createdAt: timestamp(),
    failed: p.boolean(),
    /** Whether another model answered than the one that was asked first. */
    fellBack: p.boolean(),
    /** Whether an earlier response was used: it says nothing of the version's cost and latency. */
    reused: p.boolean(),
    /** From creation to the end; null: it failed. */
    latencyMs: p.double().$type<number>().nullable(),
    /** US dollars; null where it is not known. */
    cost: p.double().$type<number>().nullable(),
    tokens: p.bigint('number'),
  },
});

/** What is counted of an execution: how often (`count`), and the sums of its values and their squares. */
export const RELEASE_MEASURES = ['error', 'fallback', 'reused', 'cost', 'latency', 'tokens'] as const;

/**
 * Sums over executions of a release, by minute, and all of a stage together (`startsAt` is then the beginning of 1970). They stay when
 * the executions are deleted.
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
    /** Of a latency; else 0. */
    bucket: p.integer().primary(),
    workspaceId: p.uuid(),
    count: p.bigint('number'),
    total: p.double().$type<number>(),
    squares: p.double().$type<number>(),
  },
});
