import { personalKeyRoutes } from '../api/members/personal-key-routes.ts';
import { memberRoutes } from '../api/members/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import type { Capability } from './capability.ts';

export const members: Capability = {
  name: 'members',
  routes: (parts) => [...memberRoutes(parts), ...personalKeyRoutes(parts)],
  rows: [toDelete('members', () => ({ ...everyRow, byId: true }))],
};
