import type { Query } from '../../db/database.ts';
import { notFound } from '../../domain/errors.ts';
import type { StoredExamples } from './inline-examples.ts';

/** The examples of a dataset's version. */
export interface FoundExamples extends StoredExamples {
  datasetName: string;
  version: number;
}

interface FoundRow {
  id: string;
  name: string;
  version: number;
  hash: Buffer;
  examples_total: number;
}

/** The lock keeps the version from being deleted before the transaction that means to use it has ended. */
const FIND = {
  text: `select v.id, d.name, v.version, v.hash, v.examples_total
         from datasets d join dataset_versions v on v.dataset_id = d.id and v.version = coalesce($3::int, d.latest_version)
         where d.workspace_id = $1 and d.name = $2 for key share of v`,
};

/**
 * Finds what an evaluation is to run over: the version asked for, else the latest. Call it in the transaction that stores the
 * evaluation: until it ends, the examples stay.
 * @throws ApiError `not_found` naming what is missing: the dataset or the version
 */
export async function findExamples(query: Query, name: string, version?: number): Promise<FoundExamples> {
  const [row] = await query<FoundRow>(FIND, [name, version ?? null]);
  if (row)
    return {
      examplesId: row.id,
      datasetName: row.name,
      version: row.version,
      hash: row.hash,
      total: row.examples_total,
    };
  if (version === undefined) throw notFound(`The dataset "${name}"`);
  await findExamples(query, name);
  throw notFound(`Version ${version} of the dataset "${name}"`);
}
