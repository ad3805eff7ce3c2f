import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';

const MODELS = prepared<{ limit: number; owner: string }>()((db, { limit, owner }) =>
  db
    .selectFrom(
      db
        .selectFrom('prompts')
        .select(['name', 'created_at'])
        .where('archived_at', 'is', null)
        .orderBy('name')
        .limit(limit)
        .as('listed'),
    )
    .select(
      sql<string>`coalesce(json_agg(json_build_object('id', listed.name, 'object', 'model',
        'created', floor(extract(epoch from listed.created_at))::bigint, 'owned_by', ${owner}::text) order by listed.name)::text, '[]')`.as(
        'models',
      ),
    ),
);

/**
 * The prompts that are not archived, as models in OpenAI's format, in order of their names, at most `limit`. Returned as JSON,
 * because thousands of rows would block the event loop.
 * @param owner the public id of the workspace
 */
export async function listModels(query: Query, limit: number, owner: string): Promise<string> {
  const [row] = await query(MODELS, { limit, owner });
  return row?.models ?? '[]';
}
