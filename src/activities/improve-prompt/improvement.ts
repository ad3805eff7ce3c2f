import { ENDED_BY_OPERATOR, endWithError } from '../../services/improvements/end-improvement.ts';
import {
  type ChildToStart,
  type ImprovementView,
  type MoveDeps,
  moveImprovement,
} from '../../services/improvements/move-improvement.ts';
import { withHeartbeats } from '../heartbeats.ts';

export type { ChildToStart, ImprovementView };

export type ImprovementActivityDeps = MoveDeps;
export type ImprovementActivities = ReturnType<typeof createImprovementActivities>;

/** The steps of the workflow `improvePrompt`. Repeating one changes nothing. */
export function createImprovementActivities(deps: ImprovementActivityDeps) {
  return {
    /** Moves the search as far as it gets; null if it is gone. */
    moveImprovement: (id: string): Promise<ImprovementView | null> =>
      withHeartbeats(() => moveImprovement(deps, id), 'moving'),
    failImprovement: (id: string): Promise<void> => endWithError(deps.db, id, ENDED_BY_OPERATOR),
  };
}
