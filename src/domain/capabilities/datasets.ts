import { DELETE_ONE, type Declaration } from '../capability.ts';

export const datasets = {
  name: 'datasets',
  tags: { Datasets: 'Named, versioned lists of examples for evaluations.' },
  audit: { 'dataset.created': 'dataset', 'dataset.updated': 'dataset', 'dataset.deleted': 'dataset' },
  auditedWhenFull: ['dataset.deleted'],
  quotas: {
    datasets: { setting: 'QUOTA_DATASETS', default: 1_000, what: 'datasets', remedy: DELETE_ONE },
    datasetBytes: {
      setting: 'QUOTA_DATASET_BYTES',
      default: 10 * 1024 ** 3,
      inBytes: true,
      what: 'bytes in datasets, over all versions, and in evaluations with their own examples',
      remedy:
        'Delete datasets, or evaluations with their own examples, that are no longer needed: within a minute or two there is room',
    },
    uploads: {
      setting: 'QUOTA_UPLOADS',
      default: 10,
      what: 'uploads in progress',
      remedy: 'Wait for the end of one',
    },
  },
} as const satisfies Declaration;
