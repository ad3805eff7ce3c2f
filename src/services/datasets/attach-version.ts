import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { type DatasetRow, getDataset } from './datasets.ts';
import { sizeOf } from './insert-examples.ts';

/** The clock, not the start of the transaction, so that the times of versions are in the order of their numbers. */
const clock = sql<Date>`clock_timestamp()`;

/** A complete set of examples. */
export interface VersionContents {
  examplesId: string;
  total: number;
  hash: Buffer;
  /** Undefined: the dataset keeps its description. */
  description?: string | undefined;
}

/** Takes the next version number. A dataset that is recreated after its deletion continues the numbers, but is otherwise new. */
async function claimVersion(
  query: Query,
  name: string,
  description: string | undefined,
): Promise<{ id: string; version: number }> {
  const [claim] = await query((db) =>
    db
      .insertInto('datasets')
      .values({
        id: newId(),
        name,
        description: description ?? null,
        latest_version: 1,
        created_at: clock,
        updated_at: clock,
      })
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'name']).doUpdateSet((eb) => ({
          latest_version: eb('datasets.latest_version', '+', 1),
          updated_at: clock,
          description: eb.fn.coalesce('excluded.description', 'datasets.description'),
          created_at: eb
            .case()
            .when(
              eb.exists(
                eb.selectFrom('dataset_versions as v').select('v.id').whereRef('v.dataset_id', '=', 'datasets.id'),
              ),
            )
            .then(eb.ref('datasets.created_at'))
            .else(clock)
            .end(),
        })),
      )
      .returning(['id', 'latest_version as version']),
  );
  if (!claim) throw new Error('A dataset could be neither inserted nor updated.');
  return claim;
}

/**
 * Makes a set of examples the next version of a dataset, or the first version of a new one. Call it last: it locks the dataset's row
 * until the end of the transaction, so that other writers of the dataset wait only for the commit, and no number is lost or skipped.
 * @throws ApiError `quota_exceeded`
 */
export async function attachVersion(
  query: Query,
  quotas: Quotas,
  name: string,
  { examplesId, total, hash, description }: VersionContents,
): Promise<DatasetRow> {
  // Before the row is locked, because it may take a while.
  await query((db) =>
    db
      .updateTable('dataset_versions')
      .set({ bytes: sizeOf(examplesId) })
      .where('id', '=', examplesId),
  );
  const { id, version } = await claimVersion(query, name, description);
  // Read after the row is locked: of concurrent requests that create a dataset, only one sees it as new.
  const others = await query((db) =>
    db.selectFrom('dataset_versions').select('id').where('dataset_id', '=', id).limit(1),
  );
  const isNew = others.length === 0;
  await query((db) =>
    db
      .updateTable('dataset_versions')
      .set({ dataset_id: id, version, examples_total: total, hash, created_at: clock })
      .where('id', '=', examplesId),
  );
  if (isNew) await quotas.require(query, 'datasets');
  await quotas.require(query, 'datasetBytes');
  await recordChange(query, isNew ? 'dataset.created' : 'dataset.updated', name, { version, examples: total });
  return getDataset(query, name, version);
}
