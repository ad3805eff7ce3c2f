import { defineEntity, p } from '@mikro-orm/core';
import { type BackfillStatus, backfillStates } from '../../domain/rules/backfill-states.ts';
import { backfillStorageTriggers, ruleItemStorageTriggers, ruleJudgementStorageTriggers } from '../storage-triggers.ts';
import { ruleJudgementUsageTriggers } from '../usage-triggers.ts';
import { usageColumns } from './evaluation.ts';
import { Execution } from './execution.ts';
import { storedBytes } from './stored-bytes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** Which executions are scored, and by what. */
const selection = {
  /** Null: of every prompt. */
  promptName: p.text().nullable(),
  /** Prompts whose names begin with this and a `/`. */
  promptGroup: p.text().nullable(),
  /** The label that the request named. */
  label: p.text().nullable(),
  /** An `ExecutionFilter` besides; null: none. It is looked at when the execution's turn has come. */
  filter: p.json<object>().columnType('jsonb').nullable(),
  /** 0–1 */
  sampleRate: p.double().$type<number>(),
  evaluators: p.json<object[]>().columnType('jsonb'),
  /** The secrets of its evaluators, as those of an evaluation. */
  evaluatorSecrets: p.blob().$type<Buffer>().nullable(),
};

/** A standing evaluation: executions that complete are scored by evaluators, within a budget a day. */
export const Rule = defineEntity({
  name: 'Rule',
  tableName: 'rules',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    ...selection,
    /** US dollars in a day of UTC; null: no limit. */
    maxCostPerDay: p.decimal('string').columnType('numeric').nullable(),
    enabled: p.boolean(),
    /** Changes with every change of the rule: what runs by an older one is begun again. */
    revision: p.integer().default(1),
    /** What the last execution failed by that could not be scored. */
    lastError: p.json<{ code: string; message: string; at: string }>().columnType('jsonb').nullable(),
    bytes: storedBytes('filter::text', 'evaluators::text', 'last_error::text'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
    /** When its workflow is started next, where something is due. */
    checkAt: timestamp().defaultRaw('now()'),
  },
});

/** A rule as it was at one time, over executions of the past. */
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
    /** Of the rule. */
    name: p.text(),
    ...selection,
    /** Created at or after this. */
    since: timestamp(),
    /** Created before this. */
    until: timestamp(),
    /** US dollars in all; null: no limit. */
    maxCost: p.decimal('string').columnType('numeric').nullable(),
    status: p.enum(() => Object.fromEntries(backfillStates.states.map((s) => [s, s]))).$type<BackfillStatus>(),
    statusReason: p.text().nullable(),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    /** What the last execution failed by that could not be scored. */
    lastError: p.json<{ code: string; message: string; at: string }>().columnType('jsonb').nullable(),
    /** The last execution that was looked at; the ids behind it are still to come. */
    position: p.uuid(),
    /** Whether there are no more to look at. */
    exhausted: p.boolean().default(false),
    /** How many executions were found that are to be scored. */
    found: p.bigint('number').default(0),
    bytes: storedBytes('filter::text', 'evaluators::text', 'error::text', 'last_error::text'),
    createdAt: timestamp(),
    finishedAt: timestamp().nullable(),
    /** When its workflow is started next. */
    checkAt: timestamp().defaultRaw('now()'),
  },
});

/** An execution that a rule or a backfill (`workId`) has yet to score. It is deleted in the transaction that stores its scores. */
export const RuleItem = defineEntity({
  name: 'RuleItem',
  tableName: 'rule_items',
  triggers: ruleItemStorageTriggers,
  indexes: [{ properties: ['workspaceId', 'workId', 'id'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    workspaceId: p.uuid(),
    workId: p.uuid(),
    executionId: p.uuid(),
    createdAt: timestamp(),
  },
});

/** What a rule or a backfill did in a day of UTC. */
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
    /** Those that lack a score. */
    failed: p.bigint('number').default(0),
    /** Those that had waited for too long. */
    skipped: p.bigint('number').default(0),
    /** Those that there was no money for. */
    skippedBudget: p.bigint('number').default(0),
    /** US dollars, as a budget counts them: a call of unknown cost counts as what was reserved for it. */
    spent: p.decimal('string').columnType('numeric').defaultRaw('0'),
  },
});

/** A judge's response about one execution: it is paid for once, whichever run of the rule asks next. */
export const RuleJudgement = defineEntity({
  name: 'RuleJudgement',
  tableName: 'rule_judgements',
  indexes: [{ properties: ['workspaceId'] }],
  triggers: [...ruleJudgementStorageTriggers, ...ruleJudgementUsageTriggers],
  properties: {
    execution: () => p.manyToOne(Execution).deleteRule('cascade').primary(),
    /** Name of the rule. */
    rule: p.text().primary(),
    evaluator: p.text().primary(),
    /** Of the evaluator: `evaluatorVersion`. */
    version: p.text().primary(),
    workspaceId: p.uuid(),
    model: p.text(),
    /** Null where the provider's filter withheld it. */
    answer: p.text().nullable(),
    /** How often the judge was called; after an unusable response it is called once more. */
    asks: p.integer().default(1),
    ...usageColumns,
    createdAt: timestamp(),
  },
});
