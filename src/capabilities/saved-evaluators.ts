import { savedEvaluatorRoutes } from '../api/saved-evaluators/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import type { Capability } from './capability.ts';

export const savedEvaluators: Capability = {
  name: 'saved-evaluators',
  routes: savedEvaluatorRoutes,
  rows: [toDelete('saved_evaluators', () => everyRow)],
};
