import { defineEntity, p } from '@mikro-orm/core';
import type { CandidateKind, CandidateStatus } from '../../domain/improvements/candidate.ts';
import type {
  CandidateContent,
  CandidateRun,
  ImprovementPhase,
  ImprovementRequest,
  ImprovementSplit,
  SearchState,
} from '../../domain/improvements/improvement.ts';
import {
  type ImprovementStatus,
  improvementStates,
  UNFINISHED_IMPROVEMENT,
} from '../../domain/improvements/improvement-states.ts';
import type { Verdict } from '../../domain/improvements/verdict.ts';
import type { Version } from '../../domain/prompts/prompt-version.ts';
import { candidateStorageTriggers, improvementStorageTriggers } from '../storage-triggers.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/**
 * A search for a better version of a prompt. The row holds everything that the search has found and spent; its workflow only
 * moves it, and reads it whenever it is signaled that something changed.
 */
export const Improvement = defineEntity({
  name: 'Improvement',
  tableName: 'improvements',
  triggers: improvementStorageTriggers,
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'promptName', 'id'] },
    {
      name: 'improvements_check_index',
      expression: `create index "improvements_check_index" on "improvements" ("check_at") where "signal_pending" or ${improvementStates.in(UNFINISHED_IMPROVEMENT)}`,
    },
  ],
  properties: {
    ...workspaceOwned,
    promptName: p.text(),
    /** The version to improve, and its content when the search started. */
    promptVersion: p.integer(),
    base: p.json<Version>().columnType('jsonb'),
    request: p.json<ImprovementRequest>().columnType('jsonb'),
    /** With the full names of their models. */
    evaluators: p.json<{ type: string; name: string; weight: number }[]>().columnType('jsonb'),
    datasetName: p.text(),
    datasetVersion: p.integer(),
    /** The positions of the examples of each part in the version of the dataset. */
    split: p.json<ImprovementSplit>().columnType('jsonb'),
    status: p.enum(() => Object.fromEntries(improvementStates.states.map((s) => [s, s]))).$type<ImprovementStatus>(),
    statusReason: p.text().nullable(),
    phase: p.text().$type<ImprovementPhase>().default('base'),
    /** The number of rounds that have started. */
    round: p.integer().default(0),
    /** Everything that the search needs to continue. */
    state: p.json<SearchState>().columnType('jsonb'),
    /** US dollars; null: no limit. */
    maxCost: p.decimal('string').columnType('numeric').nullable(),
    /** Why the search ended, or is to end. */
    stopReason: p.text().nullable(),
    verdict: p.json<Verdict>().columnType('jsonb').nullable(),
    acceptedVersion: p.integer().nullable(),
    acceptedReleaseId: p.uuid().nullable(),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    deadline: timestamp().nullable(),
    bytes: storedBytes(
      'base::text',
      'request::text',
      'evaluators::text',
      'split::text',
      'state::text',
      'verdict::text',
    ),
    createdAt: timestamp(),
    finishedAt: timestamp().nullable(),
    /** Whether the workflow still has to notice the last change. */
    signalPending: p.boolean().default(false),
    /** When to make sure that the workflow runs. */
    checkAt: timestamp().defaultRaw("(now() + '00:00:10'::interval)"),
  },
});

/** What was tried: number 0 is the base, the others are proposals. */
export const ImprovementCandidate = defineEntity({
  name: 'ImprovementCandidate',
  tableName: 'improvement_candidates',
  triggers: candidateStorageTriggers,
  indexes: [{ properties: ['workspaceId'] }],
  properties: {
    improvement: () => p.manyToOne(Improvement).deleteRule('cascade').primary(),
    number: p.integer().primary(),
    workspaceId: p.uuid(),
    /** The round in which it was proposed; 0: the base. */
    round: p.integer(),
    /** The number of the candidate that it changes; null: the base itself. */
    parent: p.integer().nullable(),
    kind: p.text().$type<CandidateKind>(),
    status: p.text().$type<CandidateStatus>(),
    /** Null until it is written. */
    content: p.json<CandidateContent>().columnType('jsonb').nullable(),
    change: p.text().nullable(),
    diagnosis: p.json<string[]>().columnType('jsonb').nullable(),
    reject: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    /** Its evaluations and calls, and what they came to. */
    run: p.json<CandidateRun>().columnType('jsonb'),
    bytes: storedBytes('content::text', 'change', 'diagnosis::text', 'reject::text', 'run::text'),
    createdAt: timestamp(),
  },
});

/** Which examples searches of a prompt have seen: a held-out example proves less with each verdict over it. */
export const ImprovementLook = defineEntity({
  name: 'ImprovementLook',
  tableName: 'improvement_looks',
  properties: {
    workspaceId: p.uuid().primary(),
    promptName: p.text().primary(),
    /** The hash of the example's variables. */
    hash: p.blob().$type<Buffer>().primary(),
    /** Whether a search has learned from it: then it is never held out. */
    seen: p.boolean(),
    /** The number of verdicts over it. */
    looks: p.bigint('number').default(0),
  },
});
