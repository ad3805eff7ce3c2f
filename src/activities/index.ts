import type { RunScheduleDeps } from '../services/schedules/run-schedule.ts';
import { createEvaluationActivities } from './evaluation-run/evaluation.ts';
import type { BatchDeps } from './evaluation-run/run-batch.ts';
import { createExecutionActivities, type ExecutionActivityDeps } from './execute-prompt/execution.ts';
import { createImprovementActivities, type ImprovementActivityDeps } from './improve-prompt/improvement.ts';
import { createProviderBatchActivities, type ProviderBatchDeps } from './provider-batch/batch.ts';
import { createReleaseActivities, type ReleaseActivityDeps } from './release-prompt/release.ts';
import { createScheduleActivities } from './scheduled-evaluation/schedule.ts';
import { createScoringActivities } from './score-executions/scoring.ts';
import { createWebhookActivities, type WebhookActivityDeps } from './webhook-delivery/webhook.ts';

export type ActivityDeps = ExecutionActivityDeps &
  BatchDeps &
  RunScheduleDeps &
  ReleaseActivityDeps &
  ImprovementActivityDeps &
  ProviderBatchDeps &
  WebhookActivityDeps;

/** Every activity of the service by task queue, built from the given dependencies. */
export function createActivities(deps: ActivityDeps) {
  return {
    executions: createExecutionActivities(deps),
    evaluations: {
      ...createEvaluationActivities(deps),
      ...createScheduleActivities(deps),
      ...createReleaseActivities(deps),
      ...createImprovementActivities(deps),
      ...createProviderBatchActivities(deps),
      ...createScoringActivities(deps),
    },
    webhooks: createWebhookActivities(deps),
  };
}
