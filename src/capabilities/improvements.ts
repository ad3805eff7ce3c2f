import { sql } from 'kysely';
import { generateExamplesRoute } from '../api/improvements/generate-route.ts';
import { improvementRoutes } from '../api/improvements/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { inStates } from '../db/state-change.ts';
import {
  ENDED_IMPROVEMENT,
  improvementStates,
  UNFINISHED_IMPROVEMENT,
} from '../domain/improvements/improvement-states.ts';
import { reconcileImprovements } from '../jobs/reconcile-improvements.ts';
import { endEach } from '../jobs/remove-workspaces.ts';
import { IMPROVEMENT_TOOLS } from '../mcp/tools/improvement-tools.ts';
import { controlImprovement } from '../services/improvements/control-improvement.ts';
import { type Capability, reconciling } from './capability.ts';

export const improvements: Capability = {
  name: 'improvements',
  routes: (parts) => [...improvementRoutes(parts), generateExamplesRoute(parts)],
  tools: IMPROVEMENT_TOOLS,
  jobs: (parts) => [reconciling(parts, 'improvements', reconcileImprovements)],
  end: (deps, workspace, signal) =>
    endEach(workspace, 'improvements', inStates(improvementStates, UNFINISHED_IMPROVEMENT), signal, (id) =>
      controlImprovement(deps, workspace, id, 'cancel'),
    ),
  rows: [
    toDelete('improvement_looks', () => everyRow),
    toDelete('improvement_candidates', () => everyRow),
    toDelete('improvements', () => ({
      where: inStates(improvementStates, ENDED_IMPROVEMENT),
      bytes: sql.ref<number>('bytes'),
      byId: true,
    })),
  ],
};
