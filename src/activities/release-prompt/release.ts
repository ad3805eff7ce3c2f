import { type EvaluateDeps, evaluateStep } from '../../services/releases/evaluate-step.ts';
import {
  checkStep,
  endWait,
  expireRelease,
  failRelease,
  openCanary,
  promoteStep,
  type ReleaseView,
  readForWorkflow,
} from '../../services/releases/release-steps.ts';
import { withHeartbeats } from '../heartbeats.ts';

export type { ReleaseView };

export type ReleaseActivityDeps = EvaluateDeps;
export type ReleaseActivities = ReturnType<typeof createReleaseActivities>;

/**
 * The steps of the workflow `releasePrompt`. Each runs in one transaction if the release is at that step; repeating it changes
 * nothing.
 */
export function createReleaseActivities(deps: ReleaseActivityDeps) {
  const { db } = deps;
  return {
    /** The next work to do; null if the release is gone. */
    readRelease: (id: string): Promise<ReleaseView | null> => readForWorkflow(db, id),
    /** @returns what is still at work, in words; null if the step is over */
    evaluate: (id: string, step: number): Promise<string | null> =>
      withHeartbeats(() => evaluateStep(deps, id, step), 'comparing'),
    openCanary: (id: string, step: number): Promise<void> => openCanary(db, id, step),
    /**
     * @param isDue whether the time of the step is over, so that the next step is decided
     * @returns whether the release is still running at that step
     */
    checkNumbers: (id: string, step: number, isDue: boolean): Promise<boolean> => checkStep(db, id, step, isDue),
    endWait: (id: string, step: number): Promise<void> => endWait(db, id, step),
    promote: (id: string, step: number): Promise<void> => promoteStep(db, id, step),
    expire: (id: string): Promise<void> => expireRelease(db, id),
    fail: (id: string): Promise<void> => failRelease(db, id),
  };
}
