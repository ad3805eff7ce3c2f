import type { SystemDatabase } from '../db/database.ts';
import { USAGE_MEASURES } from '../db/usage-triggers.ts';

const BATCH_SIZE = 5_000;

/** How long entries are kept after what they tell of was created, so that times of the last hours are exact. */
export const ENTRIES_KEPT_HOURS = 3;

/**
 * Adds entries to the sums. Each is taken by one process, and marked in the same statement. Rows of sums are locked in one order,
 * so that two at once can't wait for each other.
 */
const SUM_UP = {
  text: `with taken as (
           update usage_entries set summed = true
           where id in (select id from usage_entries where not summed limit ${BATCH_SIZE} for update skip locked)
           returning *
         ), summed as (
           insert into usage_sums as s (workspace_id, unit, starts_at, kind, prompt_name, model, ${USAGE_MEASURES.join(', ')})
           select workspace_id, unit, date_trunc(unit, created_at, 'UTC') as starts_at, kind, prompt_name, model,
             ${USAGE_MEASURES.map((measure) => `sum(${measure})`).join(', ')}
           from taken cross join (values ('hour'), ('day')) as units (unit)
           group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
           on conflict (workspace_id, unit, starts_at, kind, prompt_name, model) do update
             set ${USAGE_MEASURES.map((measure) => `${measure} = s.${measure} + excluded.${measure}`).join(', ')}
         ) select count(*)::int as count from taken`,
};

const DELETE_SUMMED = {
  text: `with gone as (
           delete from usage_entries where id in (
             select id from usage_entries where summed and created_at < now() - interval '${ENTRIES_KEPT_HOURS} hours'
             limit ${BATCH_SIZE} for update skip locked)
           returning 1
         ) select count(*)::int as count from gone`,
};

/** Adds new entries of usage to the sums and deletes old ones. Safe to run in several processes at once. */
export async function sumUpUsage({ query }: SystemDatabase): Promise<void> {
  for (const statement of [SUM_UP, DELETE_SUMMED]) {
    let count = BATCH_SIZE;
    while (count === BATCH_SIZE) [{ count } = { count: 0 }] = await query<{ count: number }>(statement);
  }
}
