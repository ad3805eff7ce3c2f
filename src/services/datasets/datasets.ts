import { type Expression, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { type Builder, prepared, type RowOf } from '../../db/statement.ts';
import { notFound } from '../../domain/errors.ts';

/**
 * Versions of datasets joined with the fields of the dataset. A deleted dataset keeps a row without versions, so that its version
 * numbers are not reused; the join excludes it.
 */
const selectVersions = (db: Builder) =>
  db
    .selectFrom('datasets as d')
    .innerJoin('dataset_versions as v', 'v.dataset_id', 'd.id')
    .select(['d.id', 'd.name', 'd.description', 'd.created_at', 'd.updated_at', 'v.id as examples_id', 'v.version'])
    .select(['v.examples_total', 'v.hash', 'v.created_at as version_created_at']);

const bytes = () => sql<number>`octet_length(name) + coalesce(octet_length(description), 0)`;

/** One version of the datasets `d`. Undefined or null: the latest. */
export const isVersion = (version: Expression<number | null>) =>
  sql<boolean>`${sql.ref('v.version')} = coalesce(${version}::int, ${sql.ref('d.latest_version')})`;

const FIND = prepared<{ name: string; version: number | null }>()((db, { name, version }) =>
  selectVersions(db).where('d.name', '=', name).where(isVersion(version)),
);
export type DatasetRow = RowOf<typeof FIND>;

/**
 * Reads a dataset: the given version, by default the latest.
 * @throws ApiError `not_found` naming what is missing: the dataset or the version
 */
export async function getDataset(query: Query, name: string, version?: number): Promise<DatasetRow> {
  const [row] = await query(FIND, { name, version: version ?? null });
  if (row) return row;
  if (version === undefined) throw notFound(`The dataset "${name}"`);
  await getDataset(query, name);
  throw notFound(`Version ${version} of the dataset "${name}"`);
}

/** Datasets in order of name, each with its latest version: a page of at most `limit` after the name `after`. */
export function listDatasets(
  db: WorkspaceDatabase,
  limit: number,
  after: string | undefined,
): Promise<Page<DatasetRow>> {
  const select = (own: Builder) =>
    selectVersions(own)
      .whereRef('v.version', '=', 'd.latest_version')
      .$if(after !== undefined, (all) => all.where('d.name', '>', after ?? ''));
  return selectPage(db.query, { select, orderBy: [['name', 'asc']], bytes }, limit);
}

/**
 * Versions of one dataset, newest first: a page of at most `limit` below version `before`.
 * @throws ApiError `not_found`
 */
export async function listDatasetVersions(
  db: WorkspaceDatabase,
  name: string,
  limit: number,
  before: number | undefined,
): Promise<Page<DatasetRow>> {
  const { id } = await getDataset(db.query, name);
  const select = (own: Builder) =>
    selectVersions(own)
      .where('d.id', '=', id)
      .$if(before !== undefined, (all) => all.where('v.version', '<', before ?? 0));
  return selectPage(db.query, { select, orderBy: [['version', 'desc']], bytes }, limit);
}
