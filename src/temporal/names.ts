import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { publicId } from '../domain/ids.ts';

/** Each kind of work has a queue of its own, so that a long batch never starves a caller. */
export const TASK_QUEUES = { executions: 'executions', evaluations: 'evaluations' } as const;

/** By which operators find workflows in the Temporal UI. */
export const SEARCH_ATTRIBUTES = {
  workspace: defineSearchAttributeKey('PmsWorkspace', SearchAttributeType.KEYWORD),
  prompt: defineSearchAttributeKey('PmsPrompt', SearchAttributeType.KEYWORD),
  model: defineSearchAttributeKey('PmsModel', SearchAttributeType.KEYWORD),
  evaluation: defineSearchAttributeKey('PmsEvaluation', SearchAttributeType.KEYWORD),
} as const;

/** `execute-prompt/exec_…` */
export function executionWorkflowId(executionId: string): string {
  return `execute-prompt/${publicId('execution', executionId)}`;
}
