import { sql } from 'kysely';
import type { Query } from './query.ts';

/**
 * Acquires the lock of that name in the workspace, and holds it until the transaction ends.
 * @param query of a workspace's transaction
 */
export async function lockInWorkspace(query: Query, name: string): Promise<void> {
  // raw SQL: the lock's key contains the workspace's id, which only SQL text receives, as `$1`.
  await query({ text: 'select pg_advisory_xact_lock(hashtextextended($2 || $1::text, 0)), $1 as workspace_id' }, [
    `${name} `,
  ]);
}

/** Acquires the lock of that name in the whole system, and holds it until the transaction ends. */
export async function lockInSystem(query: Query, name: string): Promise<void> {
  await query((db) => db.selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`.as('locked')));
}
