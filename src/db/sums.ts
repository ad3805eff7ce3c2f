import { sql } from 'kysely';

// Triggers write an entry for each change, in its transaction. A statement takes entries and adds them to sums, so that sums and
// entries together are correct at every moment, and no two transactions of callers wait for the same sum.

/** The maximum number of entries that one statement adds. */
export const ENTRIES_AT_ONCE = 5_000;

/** For `onConflict`: adds the inserted values to those of the sum. Insert in the order of the key, so that two calls cannot deadlock. */
export const raised = (sums: string, measures: readonly string[]) =>
  Object.fromEntries(
    measures.map((measure) => [
      measure,
      sql<never>`${sql.ref(`${sums}.${measure}`)} + ${sql.ref(`excluded.${measure}`)}`,
    ]),
  );

/** @param take takes at most {@link ENTRIES_AT_ONCE}; it is repeated until it takes fewer */
export async function takeAll(take: () => Promise<readonly { count: number }[]>): Promise<void> {
  let count = ENTRIES_AT_ONCE;
  while (count === ENTRIES_AT_ONCE) count = (await take()).reduce((sum, taken) => sum + taken.count, 0);
}
