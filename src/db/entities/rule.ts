import { defineEntity, p } from '@mikro-orm/core';
import { type BackfillStatus, backfillStates } from '../../domain/rules/backfill-states.ts';
import {
  backfillStorageTriggers,
  ruleItemStorageTriggers,
  ruleJudgementStorageTriggers,
  traceJudgementStorageTriggers,
} from '../storage-triggers.ts';
import { ruleJudgementUsageTriggers, traceJudgementUsageTriggers } from '../usage-triggers.ts';
import { usageColumns } from './evaluation.ts';
import { Execution } from './execution.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** Which executions to score, and with what. */
const selection = {
  /** Null for every prompt. */
  promptName: p.text().nullable(),
  /** Prompts whose names start with this and a `/`. */
  promptGroup: p.text().nullable(),
  /** The label that the request named. */
  label: p.text().nullable(),
  /** An additional `ExecutionFilter`; null: none. Applied when the execution is about to be scored. */
  filter: p.json<object>().columnType('jsonb').nullable(),
  /** 0–1 */
  sampleRate: p.double().$type<number>(),
  evaluators: p.json<object[]>().columnType('jsonb'),
  /** The secrets of its evaluators, like those of an evaluation. */
  evaluatorSecrets: p.blob().$type<Buffer>().nullable(),
};

/** A standing evaluation: evaluators score completed executions, or settled traces, within a budget per day. */
export const Rule = defineEntity({
  name: 'Rule',
  tableName: 'rules',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    ...selection,
    /** A `TraceFilter`: the rule scores traces that match it, and no executions. Null if it scores executions. */
    traceFilter: p.json<object>().columnType('jsonb').nullable(),
    /** US dollars per day (UTC); null: no limit. */
    maxCostPerDay: p.decimal('string').columnType('numeric').nullable(),
    enabled: p.boolean(),
    /** Incremented at every change of the rule: work based on an older revision is started again. */
    revision: p.integer().default(1),
    /** Why the latest execution that could not be scored failed. */
    lastError: p.json<{ code: string; message: string; at: string }>().columnType('jsonb').nullable(),
    bytes: storedBytes('filter::text', 'evaluators::text', 'last_error::text'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
    /** When to start its workflow next, if something is due. */
    checkAt: timestamp().defaultRaw('now()'),
  },
});

/** A rule as it was at one time, applied to past executions. */
export const RuleBackfill = defineEntity({
  name: 'RuleBackfill',
  tableName: 'rule_backfills',
  triggers: backfillStorageTriggers,
  indexes: [
    { properties: ['workspaceId', 'rule', 'id'] },
    {
      name: 'rule_backfills_check_index',
      expression: `create index "rule_backfills_check_index" on "rule_backfills" ("check_at") where ${backfillStates.in(['running'])}`,
    },
  ],
  properties: {
    ...workspaceOwned,
    rule: () => p.manyToOne(Rule).deleteRule('cascade'),
    /** The name of the rule. */
    name: p.text(),
    ...selection,
    /** Created at or after this time. */
    since: timestamp(),
    /** Created before this time. */
    until: timestamp(),
    /** US dollars in total; null: no limit. */
    maxCost: p.decimal('string').columnType('numeric').nullable(),
    status: p.enum(() => Object.fromEntries(backfillStates.states.map((s) => [s, s]))).$type<BackfillStatus>(),
    statusReason: p.text().nullable(),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    /** Why the latest execution that could not be scored failed. */
    lastError: p.json<{ code: string; message: string; at: string }>().columnType('jsonb').nullable(),
    /** The last examined execution; those with greater ids are still to come. */
    position: p.uuid(),
    /** Whether none are left to examine. */
    exhausted: p.boolean().default(false),
    /** The number of executions found that are to be scored. */
    found: p.bigint('number').default(0),
    bytes: storedBytes('filter::text', 'evaluators::text', 'error::text', 'last_error::text'),
    createdAt: timestamp(),
    finishedAt: timestamp().nullable(),
    /** When to start its workflow next. */
    checkAt: timestamp().defaultRaw('now()'),
  },
});

/** An execution or trace that a rule or a backfill (`workId`) still has to score. Deleted in the transaction that stores its scores. */
export const RuleItem = defineEntity({
  name: 'RuleItem',
  tableName: 'rule_items',
  triggers: ruleItemStorageTriggers,
  indexes: [
    { properties: ['workspaceId', 'workId', 'id'] },
    {
      name: 'rule_items_trace_index',
      expression: `create index "rule_items_trace_index" on "rule_items" ("workspace_id", "trace_id") where "trace_id" is not null`,
    },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    workspaceId: p.uuid(),
    workId: p.uuid(),
    /** Either this or the trace. */
    executionId: p.uuid().nullable(),
    traceId: p.uuid().nullable(),
    createdAt: timestamp(),
  },
});

/** The work of a rule or a backfill on a day (UTC). */
export const RuleDay = defineEntity({
  name: 'RuleDay',
  tableName: 'rule_days',
  indexes: [{ properties: ['workspaceId'] }],
  properties: {
    workId: p.uuid().primary(),
    day: p.date().$type<string>().primary(),
    workspaceId: p.uuid(),
    /** Executions that have all their scores. */
    scored: p.bigint('number').default(0),
    /** Executions without one or more scores. */
    failed: p.bigint('number').default(0),
    /** Executions that had waited too long. */
    skipped: p.bigint('number').default(0),
    /** Executions that the budget did not cover. */
    skippedBudget: p.bigint('number').default(0),
    /** US dollars, as counted against a budget: a call of unknown cost counts as the amount reserved for it. */
    spent: p.decimal('string').columnType('numeric').defaultRaw('0'),
  },
});

const judgementColumns = {
  /** Name of the rule. */
  rule: p.text().primary(),
  evaluator: p.text().primary(),
  /** The version of the evaluator: `evaluatorVersion`. */
  version: p.text().primary(),
  model: p.text(),
  /** Null if the provider's filter withheld it. */
  answer: p.text().nullable(),
  /** The number of calls of the judge, which is called once more after an unusable response. */
  asks: p.integer().default(1),
  ...usageColumns,
  createdAt: timestamp(),
};

/** A judge's response about one execution: it is paid for once, whichever run of the rule needs it next. */
export const RuleJudgement = defineEntity({
  name: 'RuleJudgement',
  tableName: 'rule_judgements',
  indexes: [{ properties: ['workspaceId'] }],
  triggers: [...ruleJudgementStorageTriggers, ...ruleJudgementUsageTriggers],
  properties: {
    execution: () => p.manyToOne(Execution).deleteRule('cascade').primary(),
    ...judgementColumns,
    workspaceId: p.uuid(),
  },
});

/** The same about a trace. `version` also names the state of the trace that was judged. Deleted with the trace, by a trigger of `traces`. */
export const TraceJudgement = defineEntity({
  name: 'TraceJudgement',
  tableName: 'trace_judgements',
  triggers: [...traceJudgementStorageTriggers, ...traceJudgementUsageTriggers],
  properties: {
    workspaceId: p.uuid().primary(),
    traceId: p.uuid().primary(),
    ...judgementColumns,
    asks: p.bigint('number').default(1),
  },
});
