import { defineEntity, p } from '@mikro-orm/core';
import type { Arm } from '../../domain/releases/rollout.ts';
import type { ScoreCategory, ScoreDataType, ScoreSource } from '../../domain/scores/score.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { scoreQueueTriggers } from '../queue-triggers.ts';
import { scoreReleaseTriggers } from '../release-triggers.ts';
import { scoreStorageTriggers } from '../storage-triggers.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/**
 * A score of an execution, an example of an evaluation, a trace or a conversation. Its id may come from the caller, so it is unique
 * only in its workspace. Columns of the subject are copied, so that summaries need no join.
 */
export const Score = defineEntity({
  name: 'Score',
  tableName: 'scores',
  triggers: [...scoreReleaseTriggers, ...scoreStorageTriggers, ...scoreQueueTriggers],
  indexes: [
    { properties: ['workspaceId', 'createdAt', 'id'] },
    { properties: ['workspaceId', 'name', 'createdAt', 'id'] },
    { properties: ['workspaceId', 'promptName', 'createdAt', 'id'] },
    {
      name: 'scores_rule_index',
      expression: `create index "scores_rule_index" on "scores" ("workspace_id", "rule", "created_at", "id") where "rule" is not null`,
    },
    {
      name: 'scores_execution_index',
      expression: `create index "scores_execution_index" on "scores" ("workspace_id", "execution_id", "created_at", "id") where "execution_id" is not null`,
    },
    {
      // Executions by score, newest first.
      name: 'scores_name_execution_index',
      expression: `create index "scores_name_execution_index" on "scores" ("workspace_id", "name", "execution_id") where "execution_id" is not null`,
    },
    {
      // Human scores, which are few compared to evaluator scores.
      name: 'scores_people_index',
      expression: `create index "scores_people_index" on "scores" ("workspace_id", "name", "created_at", "id") where "source" in ('person', 'feedback')`,
    },
    {
      name: 'scores_trace_index',
      expression: `create index "scores_trace_index" on "scores" ("workspace_id", "trace_id", "created_at", "id") where "trace_id" is not null`,
    },
    {
      name: 'scores_conversation_index',
      expression: `create index "scores_conversation_index" on "scores" ("workspace_id", "conversation_id", "created_at", "id") where "conversation_id" is not null`,
    },
    {
      // For expiry: their subject may never exist, so its deletion cannot delete them.
      name: 'scores_of_traces_index',
      expression: `create index "scores_of_traces_index" on "scores" ("created_at") where "execution_id" is null and "evaluation_id" is null`,
    },
    {
      name: 'scores_evaluation_index',
      expression: `create index "scores_evaluation_index" on "scores" ("evaluation_id", "example_id", "created_at", "id") where "evaluation_id" is not null`,
    },
  ],
  properties: {
    workspaceId: p.uuid().primary(),
    id: p.uuid().primary(),
    name: p.text(),
    dataType: p.text().$type<ScoreDataType>(),
    /** For a boolean 0 or 1; null for a category or a text. */
    number: p.double().$type<number>().nullable(),
    /** The category or the text. */
    text: p.text().nullable(),
    /** The ids of one subject (`domain/scores/score-subject.ts`); all others are null. */
    executionId: p.uuid().nullable(),
    evaluationId: p.uuid().nullable(),
    /** The key of the example. */
    exampleId: p.text().nullable(),
    /** The OpenTelemetry trace id. The trace may not exist. */
    traceId: p.uuid().nullable(),
    /** The span id of a step; null for the trace itself. */
    spanId: p.text().nullable(),
    conversationId: p.text().nullable(),
    source: p.text().$type<ScoreSource>(),
    /** Public id of the key or session that stored it. */
    author: p.text().nullable(),
    /** For an evaluator: the rule that called it, */
    rule: p.text().nullable(),
    /** a short hash that changes with its settings, */
    evaluatorVersion: p.text().nullable(),
    /** and the model of a judge. */
    evaluatorModel: p.text().nullable(),
    comment: p.text().nullable(),
    metadata: p.json<Record<string, JsonValue>>().columnType('jsonb').defaultRaw(`'{}'`),
    promptName: p.text().nullable(),
    promptVersion: p.integer().nullable(),
    /** The label that the request named. */
    label: p.text().nullable(),
    model: p.text().nullable(),
    releaseId: p.uuid().nullable(),
    arm: p.text().$type<Arm>().nullable(),
    /** The step of the release that it counts for; null if none. */
    releaseStage: p.integer().nullable(),
    /** When the subject was created. */
    subjectAt: timestamp(),
    bytes: storedBytes('name', 'text', 'comment', 'metadata::text', 'example_id'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/** The allowed scores of a name. */
export const ScoreDefinition = defineEntity({
  name: 'ScoreDefinition',
  tableName: 'score_definitions',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    dataType: p.text().$type<ScoreDataType>(),
    /** For numbers, inclusive; null: any. */
    min: p.double().$type<number>().nullable(),
    max: p.double().$type<number>().nullable(),
    /** Null for no limit. */
    categories: p.json<ScoreCategory[]>().columnType('jsonb').nullable(),
    description: p.text().nullable(),
    /** False if the type comes from the first score. */
    defined: p.boolean(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/**
 * The contribution of scores of a release's executions to its numbers: a new score, or the difference when one is replaced.
 * Written by triggers of `scores` (`db/release-triggers.ts`); soon added to the sums and deleted.
 */
export const ReleaseScoreEntry = defineEntity({
  name: 'ReleaseScoreEntry',
  tableName: 'release_score_entries',
  indexes: [{ properties: ['releaseId'] }, { properties: ['workspaceId'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    workspaceId: p.uuid(),
    releaseId: p.uuid(),
    stage: p.integer(),
    arm: p.text().$type<Arm>(),
    /** When the execution was created. */
    createdAt: timestamp(),
    /** The name of a trace's score has the prefix `trace:`. */
    name: p.text(),
    count: p.integer(),
    total: p.double().$type<number>(),
    squares: p.double().$type<number>(),
  },
});
