import { datasetRoutes } from '../api/datasets/routes.ts';
import { toDelete } from '../db/delete-in-batches.ts';
import { examplesToTrash } from '../jobs/workspace-trash.ts';
import { createUploads } from '../services/datasets/upload-examples.ts';
import type { Capability } from './capability.ts';

export const datasets: Capability = {
  name: 'datasets',
  routes: (parts) => datasetRoutes({ ...parts, uploads: createUploads(parts.quotas) }),
  toTrash: [examplesToTrash],
  rows: [
    toDelete('datasets', (eb) => ({
      where: eb.not(
        eb.exists(eb.selectFrom('dataset_versions as v').select('v.id').whereRef('v.dataset_id', '=', 'datasets.id')),
      ),
    })),
  ],
};
