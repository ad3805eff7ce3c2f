import type { Query } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';
import { notFound } from '../../domain/errors.ts';
import { isVersion } from './datasets.ts';
import type { StoredExamples } from './inline-examples.ts';

/** The examples of a dataset version. */
export interface FoundExamples extends StoredExamples {
  datasetName: string;
  version: number;
}

/** The lock prevents deletion of the version until the transaction that uses it has ended. */
const FIND = prepared<{ name: string; version: number | null }>()((db, { name, version }) =>
  db
    .selectFrom('datasets as d')
    .innerJoin('dataset_versions as v', 'v.dataset_id', 'd.id')
    .select(['v.id as examplesId', 'd.name as datasetName', 'v.version', 'v.hash', 'v.examples_total as total'])
    .where('d.name', '=', name)
    .where(isVersion(version))
    .forKeyShare('v'),
);

/**
 * Finds the examples of an evaluation: the given version, by default the latest. Call it in the transaction that stores the
 * evaluation, so that the examples exist until it ends.
 * @throws ApiError `not_found` naming what is missing: the dataset or the version
 */
export async function findExamples(query: Query, name: string, version?: number): Promise<FoundExamples> {
  const [found] = await query(FIND, { name, version: version ?? null });
  if (found) return found;
  if (version === undefined) throw notFound(`The dataset "${name}"`);
  await findExamples(query, name);
  throw notFound(`Version ${version} of the dataset "${name}"`);
}
