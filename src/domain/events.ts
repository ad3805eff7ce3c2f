/** What webhooks can subscribe to (specification, Events). */
export const EVENT_TYPES = [
  'prompt.created',
  'prompt.updated',
  'execution.completed',
  'execution.failed',
  'evaluation.completed',
  'evaluation.regression',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
