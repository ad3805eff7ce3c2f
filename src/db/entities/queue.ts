import { defineEntity, p } from '@mikro-orm/core';
import type { ReviewCorrection } from '../../domain/queues/queue.ts';
import { Evaluation } from './evaluation.ts';
import { Execution } from './execution.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A list of executions, examples and traces that people score. */
export const Queue = defineEntity({
  name: 'Queue',
  tableName: 'queues',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    description: p.text().nullable(),
    /** What people score. */
    scoreNames: p.array().$type<string[]>().columnType('text[]'),
    /** An `ExecutionFilter`: executions that match are added automatically; null: none are. */
    filter: p.json<object>().columnType('jsonb').nullable(),
    /** A `TraceFilter`: the same for settled traces. */
    traceFilter: p.json<object>().columnType('jsonb').nullable(),
    /** 0–1: the share of them to add. */
    sampleRate: p.double().$type<number>(),
    reviewersPerItem: p.integer(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/**
 * A subject to score: an execution, an example of an evaluation, a trace or a step of one; or a pair of the first two, to be compared.
 * Once per queue. Deleted with its subject.
 */
export const QueueItem = defineEntity({
  name: 'QueueItem',
  tableName: 'queue_items',
  indexes: [
    { properties: ['workspaceId'] },
    { properties: ['queue', 'id'] },
    {
      name: 'queue_items_open_index',
      expression: `create index "queue_items_open_index" on "queue_items" ("queue_id", "id") where "completed_at" is null`,
    },
    {
      name: 'queue_items_executions_index',
      expression: `create unique index "queue_items_executions_index" on "queue_items" ("execution_id", "queue_id", "other_execution_id") nulls not distinct where "execution_id" is not null`,
    },
    {
      name: 'queue_items_examples_index',
      expression: `create unique index "queue_items_examples_index" on "queue_items" ("evaluation_id", "example_id", "queue_id", "other_evaluation_id") nulls not distinct where "evaluation_id" is not null`,
    },
    // For deletions.
    ...(['execution', 'evaluation'] as const).map((other) => ({
      name: `queue_items_other_${other}_index`,
      expression: `create index "queue_items_other_${other}_index" on "queue_items" ("other_${other}_id") where "other_${other}_id" is not null`,
    })),
    {
      name: 'queue_items_trace_index',
      expression: `create unique index "queue_items_trace_index" on "queue_items" ("workspace_id", "trace_id", "span_id", "queue_id") nulls not distinct where "trace_id" is not null`,
    },
  ],
  properties: {
    ...workspaceOwned,
    queue: () => p.manyToOne(Queue).deleteRule('cascade'),
    /** Either this, or the next two columns, or the last two. */
    execution: () => p.manyToOne(Execution).deleteRule('cascade').nullable(),
    evaluation: () => p.manyToOne(Evaluation).deleteRule('cascade').nullable(),
    /** The key of the example. */
    exampleId: p.text().nullable(),
    traceId: p.uuid().nullable(),
    /** Null for the trace itself. */
    spanId: p.text().nullable(),
    /** If it is a pair: the earlier execution, or the earlier evaluation with the same example, to compare the subject with. */
    otherExecution: () => p.manyToOne(Execution).deleteRule('cascade').nullable(),
    otherEvaluation: () => p.manyToOne(Evaluation).deleteRule('cascade').nullable(),
    /** How many reviewers have completed it, and how many have skipped it. */
    completed: p.integer().default(0),
    skipped: p.integer().default(0),
    /** When the required number of reviewers had completed it. */
    completedAt: timestamp().nullable(),
    createdAt: timestamp(),
  },
});

/** One item for one reviewer: a lease, until there is an outcome. */
export const QueueReview = defineEntity({
  name: 'QueueReview',
  tableName: 'queue_reviews',
  indexes: [
    { properties: ['workspaceId'] },
    {
      name: 'queue_reviews_leased_index',
      expression: `create index "queue_reviews_leased_index" on "queue_reviews" ("queue_id", "reviewer") where "outcome" is null`,
    },
    { properties: ['queueId', 'endedAt'] },
  ],
  properties: {
    item: () => p.manyToOne(QueueItem).deleteRule('cascade').primary(),
    /** Public id of a key or session. */
    reviewer: p.text().primary(),
    workspaceId: workspaceOwned.workspaceId,
    queueId: p.uuid(),
    /** The item is reserved until then. */
    leasedUntil: timestamp(),
    /** Null if it is or was leased. */
    outcome: p.text().$type<'completed' | 'skipped'>().nullable(),
    endedAt: timestamp().nullable(),
    /** The scores that it stored. */
    scoreIds: p.array().$type<string[]>().columnType('uuid[]').default([]),
    /** SHA-256 of the request that completed it: repeating it has no effect. */
    requestHash: p.blob().$type<Buffer>().nullable(),
    /** The dataset version with its correction. */
    correction: p.json<ReviewCorrection>().columnType('jsonb').nullable(),
  },
});

/**
 * An execution that has ended, a trace that has settled, or an execution or trace that got a score since queues were last filled. Written by triggers
 * (`db/queue-triggers.ts`), and when a trace settles, if the workspace has a queue with such a filter; soon processed and deleted.
 */
export const QueueCandidate = defineEntity({
  name: 'QueueCandidate',
  tableName: 'queue_candidates',
  indexes: [{ properties: ['workspaceId', 'id'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    workspaceId: p.uuid(),
    /** Either this or the trace. */
    executionId: p.uuid().nullable(),
    traceId: p.uuid().nullable(),
  },
});
