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
 * The steps of the workflow `releasePrompt`. Each does its work in one transaction, where the release is at that step; done again, it
 * changes nothing.
 */
export function createReleaseActivities(deps: ReleaseActivityDeps) {
  const { db } = deps;
  return {
    /** What is to be done next; null where the release is gone. */
    readRelease: (id: string): Promise<ReleaseView | null> => readForWorkflow(db, id),
    /** @returns what is still at work, in words; null where the step is over */
    evaluate: (id: string, step: number): Promise<string | null> =>
      withHeartbeats(() => evaluateStep(deps, id, step), 'comparing'),
    openCanary: (id: string, step: number): Promise<void> => openCanary(db, id, step),
    /**
     * @param isDue whether the time of the step is over: then it is decided how to go on
     * @returns whether the release is still at that step, and at work
     */
    checkNumbers: (id: string, step: number, isDue: boolean): Promise<boolean> => checkStep(db, id, step, isDue),
    endWait: (id: string, step: number): Promise<void> => endWait(db, id, step),
    promote: (id: string, step: number): Promise<void> => promoteStep(db, id, step),
    expire: (id: string): Promise<void> => expireRelease(db, id),
    fail: (id: string): Promise<void> => failRelease(db, id),
  };
}
