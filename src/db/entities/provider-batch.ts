import { defineEntity, p } from '@mikro-orm/core';
import { BATCH_WAVES, type BatchCounts, type BatchWave } from '../../domain/batches/batch-mode.ts';
import {
  type ProviderBatchStatus,
  providerBatchStates,
  UNFINISHED_PROVIDER_BATCH,
} from '../../domain/batches/provider-batch-states.ts';
import { Evaluation } from './evaluation.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

const oneOf = <S extends string>(names: readonly S[]) =>
  p.enum(() => Object.fromEntries(names.map((name) => [name, name]))).$type<S>();

/**
 * A batch of calls at a provider, for a range of a run's examples. The row is written before the provider is called, so that no
 * batch is submitted twice or left there unknown.
 */
export const ProviderBatch = defineEntity({
  name: 'ProviderBatch',
  tableName: 'provider_batches',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    {
      name: 'provider_batches_check_index',
      expression: `create index "provider_batches_check_index" on "provider_batches" ("check_at") where ${providerBatchStates.in(UNFINISHED_PROVIDER_BATCH)}`,
    },
  ],
  uniques: [{ properties: ['evaluation', 'number'] }],
  properties: {
    ...workspaceOwned,
    evaluation: () => p.manyToOne(Evaluation).deleteRule('cascade'),
    /** The number in the run, from 1. */
    number: p.integer(),
    /** The round of the run. */
    round: p.integer(),
    wave: oneOf<BatchWave>(BATCH_WAVES),
    /** The judge's name, for a wave of judgements. */
    evaluator: p.text().nullable(),
    provider: p.text(),
    model: p.text(),
    /** The range of examples that it may contain, by their position in the run from 0: the first, and the one after the last. */
    seqFrom: p.integer(),
    seqTo: p.integer(),
    status: oneOf<ProviderBatchStatus>(providerBatchStates.states),
    error: p.json<{ code: string; message: string }>().columnType('jsonb').nullable(),
    /** The number of calls in it. */
    items: p.integer().default(0),
    /** Its maximum cost in US dollars, which counts against the run's budget until it has ended. */
    reservedCost: p.decimal('string').columnType('numeric').nullable(),
    /** How often the provider was, or may have been, called to create it. */
    submissions: p.integer().default(0),
    providerBatchId: p.text().nullable(),
    /** Files at the provider to delete at the end. */
    files: p.array().$type<string[]>().columnType('text[]').default([]),
    /** The provider's own status, e.g. `finalizing`. */
    providerStatus: p.text().nullable(),
    counts: p.json<BatchCounts>().columnType('jsonb').nullable(),
    /** A person or the end of the run requested its cancellation at the provider. */
    cancelRequested: p.boolean().default(false),
    createdAt: timestamp(),
    submittedAt: timestamp().nullable(),
    /** When the provider gives up. */
    expiresAt: timestamp().nullable(),
    /** When the run gives up on it: its `max_wait` after `submitted_at`, or the time at which it ended otherwise. */
    giveUpAt: timestamp().nullable(),
    nextPollAt: timestamp().nullable(),
    finishedAt: timestamp().nullable(),
    /** When to check next that its workflow exists. */
    checkAt: timestamp().defaultRaw("(now() + '00:00:30'::interval)"),
  },
});
