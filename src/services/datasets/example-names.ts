import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';

/** Names of the variables and of the metadata entries in a set of examples, in order, at most `limit` of each. */
export async function exampleNames(
  query: Query,
  examplesId: string,
  limit: number,
): Promise<{ variables: string[]; metadata: string[] }> {
  const namesIn = async (column: 'variables' | 'metadata') => {
    const rows = await query((db) =>
      db
        .selectFrom('dataset_examples as e')
        .crossJoinLateral(sql<{ key: string }>`jsonb_object_keys(${sql.ref(`e.${column}`)})`.as<'k'>(sql`k (key)`))
        .select(sql<string>`${sql.ref('k.key')} collate "C"`.as('name'))
        .distinct()
        .where('e.dataset_version_id', '=', examplesId)
        .orderBy('name')
        .limit(limit),
    );
    return rows.map(({ name }) => name);
  };
  return { variables: await namesIn('variables'), metadata: await namesIn('metadata') };
}
