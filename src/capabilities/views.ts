import { viewRoutes } from '../api/views/routes.ts';
import { doomed, everyRow } from '../db/delete-in-batches.ts';
import type { Capability } from './capability.ts';

export const views: Capability = {
  name: 'views',
  routes: viewRoutes,
  rows: [doomed('saved_views', () => everyRow)],
};
