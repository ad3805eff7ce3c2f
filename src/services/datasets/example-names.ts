import type { Query } from '../../db/database.ts';

/** Names of the variables and of the metadata's entries in a set of examples, in order, at most `limit` of each. */
export async function exampleNames(
  query: Query,
  examplesId: string,
  limit: number,
): Promise<{ variables: string[]; metadata: string[] }> {
  const namesIn = async (column: 'variables' | 'metadata') => {
    const rows = await query<{ name: string }>(
      {
        text: `select distinct name collate "C" as name from dataset_examples e, jsonb_object_keys(e.${column}) as name
               where e.workspace_id = $1 and e.dataset_version_id = $2 order by 1 limit $3`,
      },
      [examplesId, limit],
    );
    return rows.map(({ name }) => name);
  };
  return { variables: await namesIn('variables'), metadata: await namesIn('metadata') };
}
