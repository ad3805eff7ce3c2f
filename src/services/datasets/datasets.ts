import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { notFound } from '../../domain/errors.ts';

/** One version of a dataset together with what belongs to the dataset as a whole. */
export interface DatasetRow {
  id: string;
  name: string;
  description: string | null;
  created_at: Date;
  updated_at: Date;
  /** Id of the version: of its set of examples. */
  examples_id: string;
  version: number;
  examples_total: number;
  hash: Buffer;
  version_created_at: Date;
}

/**
 * From `datasets d` and `dataset_versions v`. Of a dataset that was deleted a row without versions stays, so that no version
 * number of that name means two things; the join leaves it out.
 */
const SELECT = `select d.id, d.name, d.description, d.created_at, d.updated_at, v.id as examples_id, v.version,
  v.examples_total, v.hash, v.created_at as version_created_at
  from datasets d join dataset_versions v on v.dataset_id = d.id`;

const BYTES = 'octet_length(name) + coalesce(octet_length(description), 0)';

/**
 * Reads a dataset: the version asked for, else the latest.
 * @throws ApiError `not_found` naming what is missing: the dataset or the version
 */
export async function getDataset(query: Query, name: string, version?: number): Promise<DatasetRow> {
  const [row] = await query<DatasetRow>(
    { text: `${SELECT} and v.version = coalesce($3::int, d.latest_version) where d.workspace_id = $1 and d.name = $2` },
    [name, version ?? null],
  );
  if (row) return row;
  if (version === undefined) throw notFound(`The dataset "${name}"`);
  await getDataset(query, name);
  throw notFound(`Version ${version} of the dataset "${name}"`);
}

/** Datasets in order of name, each with its latest version, a page of at most `limit` after the name `after`. */
export async function listDatasets(
  db: WorkspaceDatabase,
  limit: number,
  after: string | undefined,
): Promise<Page<DatasetRow>> {
  const select = `${SELECT} and v.version = d.latest_version where d.workspace_id = $1 and ($2::text is null or d.name > $2)`;
  return readPage<DatasetRow>(db.query, { select, orderBy: 'name', bytes: BYTES }, [after ?? null], limit);
}

/**
 * Versions of one dataset, newest first, a page of at most `limit` below version `before`.
 * @throws ApiError `not_found`
 */
export async function listDatasetVersions(
  db: WorkspaceDatabase,
  name: string,
  limit: number,
  before: number | undefined,
): Promise<Page<DatasetRow>> {
  const { id } = await getDataset(db.query, name);
  const select = `${SELECT} where d.workspace_id = $1 and d.id = $2 and ($3::int is null or v.version < $3)`;
  return readPage<DatasetRow>(db.query, { select, orderBy: 'version desc', bytes: BYTES }, [id, before ?? null], limit);
}
