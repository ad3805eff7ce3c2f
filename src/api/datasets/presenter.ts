import type { z } from 'zod';
import type { DatasetChange } from '../../services/datasets/add-examples.ts';
import type { DatasetRow } from '../../services/datasets/datasets.ts';
import type { Dataset, DatasetChange as DatasetChangeSchema } from './schema.ts';

/** Presents a dataset after a change, together with the effect of the change. */
export function presentChange({
  row,
  added,
  replaced,
  unchanged,
}: Partial<DatasetChange> & Pick<DatasetChange, 'row'>): z.input<typeof DatasetChangeSchema> {
  return { ...presentDataset(row), added, replaced, unchanged };
}

/** Presents a dataset version. */
export function presentDataset(row: DatasetRow): z.input<typeof Dataset> {
  return {
    name: row.name,
    version: row.version,
    examples_total: row.examples_total,
    hash: `sha256:${row.hash.toString('hex')}`,
    description: row.description,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version_created_at: row.version_created_at.toISOString(),
  };
}
