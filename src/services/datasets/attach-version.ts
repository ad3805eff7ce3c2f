import type { Query } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { type DatasetRow, getDataset } from './datasets.ts';

/**
 * Takes the next version number. The clock and not the transaction's start: the times of versions are in their order.
 * A dataset that comes back after it was deleted counts on, but is a new one otherwise.
 */
const CLAIM = {
  text: `insert into datasets as d (workspace_id, name, id, description, latest_version, created_at, updated_at)
         values ($1, $2, $3, $4, 1, clock_timestamp(), clock_timestamp())
         on conflict (workspace_id, name) do update set latest_version = d.latest_version + 1,
           updated_at = clock_timestamp(), description = coalesce($4, d.description),
           created_at = case when exists (select from dataset_versions v where v.dataset_id = d.id)
             then d.created_at else clock_timestamp() end
         returning id, latest_version as version`,
};
const ATTACH = {
  text: `update dataset_versions set dataset_id = $3, version = $4, examples_total = $5, hash = $6, bytes = $7,
           created_at = clock_timestamp()
         where workspace_id = $1 and id = $2`,
};

const SIZE = {
  text: `select (select coalesce(sum(bytes), 0) from dataset_examples where workspace_id = $1 and dataset_version_id = $2) as bytes,
           not exists (select from datasets d join dataset_versions v on v.dataset_id = d.id
                       where d.workspace_id = $1 and d.name = $3) as is_new`,
};

/** What a version is known by, once all its examples are there. */
export interface VersionContents {
  examplesId: string;
  total: number;
  hash: Buffer;
  /** Undefined: stays as it is. */
  description?: string | undefined;
}

/**
 * Makes a set of examples the next version of a dataset, or the first of a new one. The dataset's row is locked from here to
 * the end of the transaction, so this comes last: others who write to the same dataset wait only for the commit, and no
 * number is lost or left out.
 * @throws ApiError `quota_exceeded`
 */
export async function attachVersion(
  query: Query,
  quotas: Quotas,
  name: string,
  { examplesId, total, hash, description }: VersionContents,
): Promise<DatasetRow> {
  const [sized] = await query<{ bytes: string; is_new: boolean }>(SIZE, [examplesId, name]);
  const bytes = Number(sized?.bytes ?? 0);
  const [claim] = await query<{ id: string; version: number }>(CLAIM, [name, newId(), description ?? null]);
  if (!claim) throw new Error('A dataset could be neither inserted nor updated.');
  await query(ATTACH, [examplesId, claim.id, claim.version, total, hash, bytes]);
  if (sized?.is_new === true) await quotas.require(query, 'datasets');
  await quotas.require(query, 'datasetBytes');
  return getDataset(query, name, claim.version);
}
