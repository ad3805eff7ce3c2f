import { progressRoutes } from '../api/evaluations/progress-routes.ts';
import { evaluationRoutes } from '../api/evaluations/routes.ts';
import { tryEvaluatorsRoute } from '../api/evaluations/try-route.ts';
import { inStates } from '../db/state-change.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../domain/evaluations/evaluation-states.ts';
import { reconcileBatches } from '../jobs/reconcile-batches.ts';
import { reconcileEvaluations } from '../jobs/reconcile-evaluations.ts';
import { endEach } from '../jobs/remove-workspaces.ts';
import { expireEvaluations } from '../jobs/retention.ts';
import { evaluationsToTrash } from '../jobs/workspace-trash.ts';
import { EVALUATION_TOOLS } from '../mcp/tools/evaluation-tools.ts';
import { cancelEvaluation } from '../services/evaluations/control/control-evaluation.ts';
import { type Capability, reconciling } from './capability.ts';

export const evaluations: Capability = {
  name: 'evaluations',
  routes: (parts) => [...progressRoutes(parts), ...evaluationRoutes(parts), tryEvaluatorsRoute(parts)],
  tools: EVALUATION_TOOLS,
  jobs: (parts) => [
    reconciling(parts, 'evaluations', reconcileEvaluations),
    reconciling(parts, 'batches', reconcileBatches),
  ],
  end: (deps, workspace, signal) =>
    endEach(workspace, 'evaluations', inStates(evaluationStates, UNFINISHED_EVALUATION), signal, (id) =>
      cancelEvaluation(deps, workspace, id),
    ),
  toTrash: [evaluationsToTrash],
  expired: ({ evaluations: forMs }) =>
    forMs === undefined ? [] : [(db, signal) => expireEvaluations(db, forMs, signal)],
};
