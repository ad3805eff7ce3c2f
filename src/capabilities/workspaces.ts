import { sql } from 'kysely';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { IDEMPOTENCY_HOURS } from '../domain/limits.ts';
import { reEncryptSecrets } from '../jobs/re-encrypt-secrets.ts';
import { sumUpStorage } from '../jobs/sum-up-storage.ts';
import { sweep } from '../jobs/sweep.ts';
import { type Capability, CLEAN_UP_EVERY_MS, SUM_UP_EVERY_MS } from './capability.ts';

/** How soon deleted rows stop counting for quotas. */
const SWEEP_EVERY_MS = 60_000;

const answerBytes = sql<number>`coalesce(octet_length(answer), 0)`;

export const workspaces: Capability = {
  name: 'workspaces',
  jobs: ({ db: { system }, cipher, log }) => [
    { name: 'sum up storage', everyMs: SUM_UP_EVERY_MS, run: () => sumUpStorage(system) },
    { name: 'sweep', everyMs: SWEEP_EVERY_MS, run: (stopping) => sweep(system, stopping) },
    {
      name: 're-encrypt secrets',
      everyMs: CLEAN_UP_EVERY_MS,
      async run() {
        await reEncryptSecrets(system, cipher, { log });
      },
    },
  ],
  rows: [
    toDelete('idempotency_keys', () => ({ ...everyRow, bytes: answerBytes })),
    // Last, because deleting the others writes sums.
    toDelete('storage_entries', () => everyRow),
    toDelete('storage_sums', () => everyRow),
    toDelete('usage_entries', () => everyRow),
    toDelete('usage_sums', () => everyRow),
    toDelete('prompt_days', () => everyRow),
    toDelete('statistics_progress', () => everyRow),
    toDelete('search_candidates', () => everyRow),
    toDelete('search_words', () => everyRow),
  ],
  expired: () => [
    toDelete('idempotency_keys', (eb) => ({
      where: eb('created_at', '<', ago(IDEMPOTENCY_HOURS * 60 * 60_000)),
      bytes: answerBytes,
    })),
    (db) => db.query((all) => all.deleteFrom('rate_limits').where('expire', '<', Date.now())),
  ],
};
