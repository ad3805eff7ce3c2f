import { defineEntity, p } from '@mikro-orm/core';
import { timestamp } from './workspace-owned.ts';

/**
 * How far the index of texts reaches back: one row, while the index is kept (`jobs/keep-search-index.ts`). Rows at or after these
 * positions are in `search_words` or in `search_candidates`, or have not ended.
 */
export const SearchIndex = defineEntity({
  name: 'SearchIndex',
  tableName: 'search_index',
  properties: {
    /** Always 1. */
    id: p.bigint('number').primary().autoincrement(false),
    /** Null if all executions are in it. */
    executionsFrom: p.uuid().nullable(),
    /** Null if all traces are in it. */
    tracesFrom: timestamp().nullable(),
  },
});

/** An execution that has ended, or a trace that has settled, since the index was last extended. Written by triggers, soon deleted. */
export const SearchCandidate = defineEntity({
  name: 'SearchCandidate',
  tableName: 'search_candidates',
  indexes: [{ properties: ['workspaceId'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    workspaceId: p.uuid(),
    subjectId: p.uuid(),
    isTrace: p.boolean(),
  },
});

/** The words of an execution or a trace (`domain/text/search-words.ts`). Deleted with it by a trigger. */
export const SearchWords = defineEntity({
  name: 'SearchWords',
  tableName: 'search_words',
  indexes: [
    {
      name: 'search_words_words_index',
      // New words are merged by the batch: each row alone would write several times as much of a log. A longer list of them slows searches down.
      expression: `create index "search_words_words_index" on "search_words" using gin ("words") with (fastupdate = on, gin_pending_list_limit = 256)`,
    },
  ],
  properties: {
    workspaceId: p.uuid().primary(),
    subjectId: p.uuid().primary(),
    words: p.text().columnType('tsvector'),
  },
});
