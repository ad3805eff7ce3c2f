import { datasetRoutes } from '../api/datasets/routes.ts';
import { toDelete } from '../db/delete-in-batches.ts';
import { examplesToTrash } from '../jobs/workspace-trash.ts';
import type { Capability } from './capability.ts';

export const datasets: Capability = {
  name: 'datasets',
  routes: datasetRoutes,
  toTrash: [examplesToTrash],
  rows: [
    toDelete('datasets', (eb) => ({
      where: eb.not(
        eb.exists(eb.selectFrom('dataset_versions as v').select('v.id').whereRef('v.dataset_id', '=', 'datasets.id')),
      ),
    })),
  ],
};
