export { evaluationRun } from './evaluation-run.ts';
export { executePrompt } from './execute-prompt.ts';
export { improvePrompt } from './improve-prompt.ts';
export { providerBatch } from './provider-batch.ts';
export { releasePrompt } from './release-prompt.ts';
export { scheduledEvaluation } from './scheduled-evaluation.ts';
export { scoreExecutions } from './score-executions.ts';
export { webhookDelivery } from './webhook-delivery.ts';
