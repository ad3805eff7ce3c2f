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
 * The prompts that are not archived as models of OpenAI's format, in order of their names, `limit` at most: as JSON, since thousands of rows would keep the
 * event loop busy.
 * @param owner the public id of the workspace
 */
export async function listModels(query: Query, limit: number, owner: string): Promise<string> {
  const [row] = await query(MODELS, { limit, owner });
  return row?.models ?? '[]';
}
