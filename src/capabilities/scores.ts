import { scoreDefinitionRoutes } from '../api/scores/definition-routes.ts';
import { feedbackRoutes } from '../api/scores/feedback-routes.ts';
import { scoreRoutes } from '../api/scores/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import type { Capability } from './capability.ts';

export const scores: Capability = {
  name: 'scores',
  routes: (parts) => [
    ...scoreRoutes(parts),
    ...scoreDefinitionRoutes(),
    ...feedbackRoutes({ ...parts, system: parts.db.system }),
  ],
  rows: [
    toDelete('scores', (eb) => ({ ...everyRow, bytes: eb.ref('bytes'), byId: true })),
    toDelete('score_definitions', () => everyRow),
  ],
};
