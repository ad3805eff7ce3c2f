import { viewRoutes } from '../api/views/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import type { Capability } from './capability.ts';

export const views: Capability = {
  name: 'views',
  routes: viewRoutes,
  rows: [toDelete('saved_views', () => everyRow)],
};
