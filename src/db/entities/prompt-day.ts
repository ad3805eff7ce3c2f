import { defineEntity, p } from '@mikro-orm/core';
import { timestamp } from './workspace-owned.ts';

/** The runs of a version of a prompt on a past day (UTC). Kept when the executions are deleted. */
export const PromptDay = defineEntity({
  name: 'PromptDay',
  tableName: 'prompt_days',
  properties: {
    workspaceId: p.uuid().primary(),
    promptName: p.text().primary(),
    startsAt: timestamp().primary(),
    /** 0: drafts that were run instead of a version. */
    promptVersion: p.integer().primary(),
    runs: p.bigint('number'),
    failed: p.bigint('number'),
    tokensInput: p.bigint('number'),
    tokensOutput: p.bigint('number'),
    tokensCachedInput: p.bigint('number'),
    tokensReasoning: p.bigint('number'),
    /** Responses with unknown cost. */
    unpriced: p.bigint('number'),
    /** In US dollars, as far as known. Null if no response has a known price. */
    costAmount: p.decimal('string').columnType('numeric').nullable(),
    /** Percentiles of the response time of models, in milliseconds. Null without responses. */
    p50Ms: p.integer().name('p50_ms').nullable(),
    p95Ms: p.integer().name('p95_ms').nullable(),
  },
});

/** The progress of summing up the days of a workspace. A workspace without executions has no row. */
export const StatisticsProgress = defineEntity({
  name: 'StatisticsProgress',
  tableName: 'statistics_progress',
  properties: {
    workspaceId: p.uuid().primary(),
    /** The start of the first day that is not in `prompt_days` yet. */
    daysUntil: timestamp(),
  },
});
