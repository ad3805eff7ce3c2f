import { defineEntity, p } from '@mikro-orm/core';
import { timestamp } from './workspace-owned.ts';

/** An execution, the call for an example of an evaluation, a call of a judge about an example, or a call of a rule's judge. */
export const USAGE_KINDS = ['execution', 'example', 'judgement', 'rule'] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];

/** The usage, or a change of it. */
const usage = {
  workspaceId: p.uuid(),
  kind: p.enum(() => Object.fromEntries(USAGE_KINDS.map((kind) => [kind, kind]))).$type<UsageKind>(),
  /** Empty: no prompt. For the kind `rule`, the name of the rule. */
  promptName: p.text(),
  model: p.text(),
  calls: p.bigint('number'),
  completed: p.bigint('number'),
  failed: p.bigint('number'),
  tokensInput: p.bigint('number'),
  tokensOutput: p.bigint('number'),
  tokensCachedInput: p.bigint('number'),
  tokensReasoning: p.bigint('number'),
  /** In US dollars, as far as known. */
  costAmount: p.decimal('string').columnType('numeric'),
  /** Calls with known cost. */
  priced: p.bigint('number'),
  /** Responses with unknown cost. */
  unpriced: p.bigint('number'),
  /** Responses with known response time of the model: none from before it was stored. */
  timed: p.bigint('number').default(0),
  /** Their total response time, in milliseconds. */
  modelMs: p.bigint('number').default(0),
};

/**
 * The usage that a statement added. Written by triggers of the tables with paid calls, so that no statement can omit it
 * (`db/usage-triggers.ts`). Entries are soon added to the sums, and kept for a few hours after that.
 */
export const UsageEntry = defineEntity({
  name: 'UsageEntry',
  tableName: 'usage_entries',
  indexes: [
    { properties: ['workspaceId', 'createdAt'] },
    {
      name: 'usage_entries_unsummed_index',
      expression: `create index "usage_entries_unsummed_index" on "usage_entries" ("workspace_id") where not "summed"`,
    },
    {
      name: 'usage_entries_summed_index',
      expression: `create index "usage_entries_summed_index" on "usage_entries" ("created_at") where "summed"`,
    },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    ...usage,
    /** When the execution, result or judgement was created. */
    createdAt: timestamp(),
    /** Whether it is in the sums. */
    summed: p.boolean().default(false),
  },
});

export const USAGE_UNITS = ['hour', 'day'] as const;
export type UsageUnit = (typeof USAGE_UNITS)[number];

/** The usage in an hour and in a day (UTC). Kept when the underlying rows are deleted. */
export const UsageSum = defineEntity({
  name: 'UsageSum',
  tableName: 'usage_sums',
  properties: {
    workspaceId: usage.workspaceId.primary(),
    unit: p
      .enum(() => Object.fromEntries(USAGE_UNITS.map((unit) => [unit, unit])))
      .$type<UsageUnit>()
      .primary(),
    startsAt: timestamp().primary(),
    kind: usage.kind.primary(),
    promptName: usage.promptName.primary(),
    model: usage.model.primary(),
    calls: usage.calls,
    completed: usage.completed,
    failed: usage.failed,
    tokensInput: usage.tokensInput,
    tokensOutput: usage.tokensOutput,
    tokensCachedInput: usage.tokensCachedInput,
    tokensReasoning: usage.tokensReasoning,
    costAmount: usage.costAmount,
    priced: usage.priced,
    unpriced: usage.unpriced,
    timed: usage.timed,
    modelMs: usage.modelMs,
  },
});
