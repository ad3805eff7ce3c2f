// Made by `npm run generate`: do not edit.

export const EVENT_TYPES = [
  'prompt.created',
  'prompt.updated',
  'execution.completed',
  'execution.failed',
  'evaluation.completed',
  'evaluation.regression',
  'trace.completed',
  'release.started',
  'release.awaiting_approval',
  'release.promoted',
  'release.rolled_back',
  'release.finished',
  'improvement.completed',
  'improvement.failed',
  'monitor.alerted',
  'monitor.recovered',
] as const;

export const SCOPES = [
  'read',
  'execute',
  'score',
  'ingest',
  'write',
  'publish',
  'admin',
] as const;
