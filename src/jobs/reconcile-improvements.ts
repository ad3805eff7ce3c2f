import { sql } from 'kysely';
import { inStates } from '../db/state-change.ts';
import {
  ENDED_IMPROVEMENT,
  improvementStates,
  UNFINISHED_IMPROVEMENT,
} from '../domain/improvements/improvement-states.ts';
import { ENDED_BY_OPERATOR, endWithError } from '../services/improvements/end-improvement.ts';
import { startImprovementWorkflow } from '../services/improvements/improvement-workflow.ts';
import { improvementWorkflowId } from '../temporal/names.ts';
import { tellChanged } from '../temporal/workflows.ts';
import { compareWithWorkflow, type ReconcileDeps, reconcile } from './reconcile.ts';

export const reconcileImprovements = (deps: ReconcileDeps): Promise<void> =>
  reconcile(deps, {
    table: 'improvements',
    // Unfinished ones, and those whose workflow may not know of a change.
    due: sql<boolean>`(signal_pending or ${inStates(improvementStates, UNFINISHED_IMPROVEMENT)})`,
    read: (db) =>
      db
        .selectFrom('improvements')
        .innerJoin('taken', 'taken.id', 'improvements.id')
        .select(['improvements.id', 'workspace_id', 'prompt_name', 'prompt_version', 'dataset_name', 'dataset_version'])
        .select(['signal_pending as untold', inStates(improvementStates, ENDED_IMPROVEMENT).as('ended')]),
    reconcile(improvement) {
      const { id, untold } = improvement;
      const workflowId = improvementWorkflowId(id);
      const start = () => startImprovementWorkflow(deps.starter, improvement);
      return compareWithWorkflow(deps, 'improvement', improvement, {
        workflowId,
        tell: () => tellChanged(deps.starter, workflowId),
        clearPending: () =>
          deps.db.system.query((db) =>
            db.updateTable('improvements').set({ signal_pending: false }).where('id', '=', id),
          ),
        start,
        // Its workflow may have ended with the state that a retry has left.
        end: () => (untold ? start() : endWithError(deps.db, id, ENDED_BY_OPERATOR)),
      });
    },
  });
