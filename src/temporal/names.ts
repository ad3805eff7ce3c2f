import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { publicId } from '../domain/ids.ts';

/** Each kind of work has its own queue, so that a long batch never starves a caller. */
export interface TaskQueues {
  executions: string;
  evaluations: string;
  webhooks: string;
}

/** Identifies a delivery. */
export interface DeliveryIdentity {
  id: string;
  eventId: string;
  webhookId: string;
  /** `event` if the event itself triggered it. */
  trigger: string;
}

/** @param prefix `TEMPORAL_TASK_QUEUE_PREFIX` */
export function taskQueuesOf(prefix: string | undefined): TaskQueues {
  const name = (queue: string) => (prefix === undefined ? queue : `${prefix}-${queue}`);
  return { executions: name('executions'), evaluations: name('evaluations'), webhooks: name('webhooks') };
}

/** Search attributes by which operators find workflows in the Temporal UI. */
export const SEARCH_ATTRIBUTES = {
  workspace: defineSearchAttributeKey('PmsWorkspace', SearchAttributeType.KEYWORD),
  prompt: defineSearchAttributeKey('PmsPrompt', SearchAttributeType.KEYWORD),
  model: defineSearchAttributeKey('PmsModel', SearchAttributeType.KEYWORD),
  evaluation: defineSearchAttributeKey('PmsEvaluation', SearchAttributeType.KEYWORD),
  webhook: defineSearchAttributeKey('PmsWebhook', SearchAttributeType.KEYWORD),
  event: defineSearchAttributeKey('PmsEvent', SearchAttributeType.KEYWORD),
} as const;

/** `execute-prompt/exec_…` */
export function executionWorkflowId(executionId: string): string {
  return `execute-prompt/${publicId('execution', executionId)}`;
}

/** `evaluation-run/eval_…`, with `/retry-N` for the Nth retry. */
export function evaluationWorkflowId(evaluationId: string, retries: number): string {
  return `evaluation-run/${publicId('evaluation', evaluationId)}${retries > 0 ? `/retry-${retries}` : ''}`;
}

/** `webhook-delivery/evt_…/wh_…`; a manually requested delivery appends its own `/dlv_…`. */
export function deliveryWorkflowId({ id, eventId, webhookId, trigger }: DeliveryIdentity): string {
  const name = `webhook-delivery/${publicId('event', eventId)}/${publicId('webhook', webhookId)}`;
  return trigger === 'event' ? name : `${name}/${publicId('delivery', id)}`;
}

/** `provider-batch/batch_…` */
export function batchWorkflowId(batchId: string): string {
  return `provider-batch/${publicId('providerBatch', batchId)}`;
}

/** `release/rel_…` */
export function releaseWorkflowId(releaseId: string): string {
  return `release/${publicId('release', releaseId)}`;
}

/** `improvement/imp_…` */
export function improvementWorkflowId(improvementId: string): string {
  return `improvement/${publicId('improvement', improvementId)}`;
}

/** `score-executions/rule_…` or `score-executions/bf_…` */
export function scoringWorkflowId(kind: 'rule' | 'backfill', id: string): string {
  return `score-executions/${publicId(kind, id)}`;
}

/** Id of a Temporal Schedule: `evaluation-schedule/sched_…`. */
export function evaluationScheduleId(scheduleId: string): string {
  return `evaluation-schedule/${publicId('schedule', scheduleId)}`;
}

/** `scheduled-evaluation/sched_…`; Temporal appends the due time. */
export function scheduledEvaluationWorkflowId(scheduleId: string): string {
  return `scheduled-evaluation/${publicId('schedule', scheduleId)}`;
}
