import type { Query } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';

const NAMES = prepared<{ limit: number }>()((db, { limit }) =>
  db.selectFrom('prompts').select(['name', 'created_at']).where('archived_at', 'is', null).orderBy('name').limit(limit),
);

/** Names of the prompts that are not archived, in order, `limit` at most. */
export function listPromptNames(query: Query, limit: number): Promise<{ name: string; created_at: Date }[]> {
  return query(NAMES, { limit });
}
