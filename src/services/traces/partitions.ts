import { sql } from 'kysely';
import pg from 'pg';
import type { Query, SystemDatabase } from '../../db/database.ts';
import { lockInSystem } from '../../db/lock.ts';

/** Microseconds per day. */
const DAY_US = 24 * 60 * 60_000_000;

/** The UTC day of a step, since 1970, from microseconds. */
export const dayOf = (us: number): number => Math.floor(us / DAY_US);

const PREFIX = 'trace_steps_';
/** `trace_steps_20260131` */
const nameOf = (day: number): string =>
  PREFIX + new Date((day * DAY_US) / 1000).toISOString().slice(0, 10).replaceAll('-', '');

/** Creates the partitions of days. */
export interface Partitions {
  /** Creates the missing ones of these days. Do not call it in a transaction: it must hold locks only briefly. */
  ensure(days: Iterable<number>): Promise<void>;
  /** Runs work that needs these days; runs it again if one of them was dropped in the meantime. */
  withDays<T>(days: readonly number[], work: () => Promise<T>): Promise<T>;
}

/** The names of existing partitions. */
async function existing(query: Query): Promise<string[]> {
  const rows = await query((db) =>
    db
      .selectFrom(sql<{ level: number; relid: string }>`pg_partition_tree('trace_steps')`.as('tree'))
      .select(sql<string>`relid::regclass::text`.as('name'))
      .where('level', '=', 1),
  );
  return rows.map(({ name }) => name);
}

/**
 * Creates a separate table and attaches it: unlike `create table … partition of`, this lets others read and write existing days. If two processes
 * do so concurrently, the second finds the table.
 */
async function create(db: SystemDatabase, day: number): Promise<void> {
  const name = nameOf(day);
  await db.transaction(async (query) => {
    await query({ text: `set local lock_timeout = '5s'` });
    await lockInSystem(query, name);
    if ((await existing(query)).includes(name)) return;
    await query({ text: `create table ${name} (like trace_steps including all)` });
    await query({ text: `alter table trace_steps attach partition ${name} for values from (${day}) to (${day + 1})` });
  });
}

/** Whether PostgreSQL found no partition for a row. */
const isDayMissing = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '23514' && /no partition of relation/.test(error.message);

export function createPartitions(db: SystemDatabase): Partitions {
  const known = new Set<number>();

  async function ensure(days: Iterable<number>): Promise<void> {
    for (const day of new Set(days)) {
      if (known.has(day)) continue;
      await create(db, day);
      known.add(day);
    }
  }

  return {
    ensure,
    async withDays(days, work) {
      await ensure(days);
      try {
        return await work();
      } catch (error) {
        if (!isDayMissing(error)) throw error;
        known.clear();
        await ensure(days);
        return work();
      }
    },
  };
}

/**
 * Drops the days that ended before a day. Waits only briefly for others who use the table; then a later call tries again.
 * @returns the number of dropped days
 */
export async function dropDaysBefore(db: SystemDatabase, day: number, signal: AbortSignal): Promise<number> {
  const before = nameOf(day);
  const expired = (await existing(db.query)).filter((name) => name.startsWith(PREFIX) && name < before).sort();
  let dropped = 0;
  for (const name of expired) {
    if (signal.aborted) break;
    await db.transaction(async (query) => {
      await query({ text: `set local lock_timeout = '2s'` });
      await query({ text: `drop table if exists ${name}` });
    });
    dropped += 1;
  }
  return dropped;
}
