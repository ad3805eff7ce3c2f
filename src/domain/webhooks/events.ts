import { z } from 'zod';
import { ID_PREFIXES, type IdKind } from '../ids.ts';
import { monitorStates } from '../monitors/monitor-states.ts';
import { releaseStates } from '../releases/release-states.ts';
import { Cost, TokenUsage } from '../usage.ts';

const id = (kind: IdKind) => z.string().regex(new RegExp(`^${ID_PREFIXES[kind]}_`));

const PromptVersionData = z
  .strictObject({
    prompt_name: z.string(),
    version: z.int(),
    previous_version: z.int().nullable().meta({ description: 'The newest version before; null for the first one.' }),
    model: z.string(),
    commit_message: z.string().nullable(),
  })
  .meta({ id: 'PromptEventData' });

const ExecutionData = z.strictObject({
  execution_id: id('execution'),
  prompt_name: z.string(),
  prompt_version: z.int(),
  model: z.string(),
});

const ExecutionCompletedData = ExecutionData.extend({
  tokens: TokenUsage,
  cost: Cost,
  latency: z.strictObject({
    queue_ms: z.int().meta({ description: 'From creation to the first call.' }),
    model_ms: z.int().meta({ description: 'The call that succeeded.' }),
    total_ms: z.int().meta({ description: 'From creation to the end.' }),
  }),
}).meta({ id: 'ExecutionCompletedData' });

const ExecutionFailedData = ExecutionData.extend({
  error: z.strictObject({ code: z.string(), message: z.string() }),
}).meta({ id: 'ExecutionFailedData' });

const EvaluationCompletedData = z
  .strictObject({
    evaluation_id: id('evaluation'),
    prompt_name: z.string(),
    score: z.number(),
    examples_evaluated: z.int(),
    regressions: z.int(),
  })
  .meta({ id: 'EvaluationCompletedData' });

const EvaluationRegressionData = EvaluationCompletedData.extend({ threshold: z.number() }).meta({
  id: 'EvaluationRegressionData',
});

const ReleaseData = z
  .strictObject({
    release_id: id('release'),
    prompt_name: z.string(),
    label: z.string(),
    stable_version: z.int().meta({ description: 'The version the label pointed to when the release started.' }),
    candidate_version: z.int(),
    status: z.enum(releaseStates.states),
    reason: z.string().nullable().meta({ description: 'The reason for the status, in words.' }),
  })
  .meta({ id: 'ReleaseEventData' });

const MonitorData = z
  .strictObject({
    monitor: z.string().meta({ description: 'Its name.' }),
    prompt_name: z.string().nullable(),
    label: z.string().nullable(),
    state: z.enum(monitorStates.states),
    reason: z.string().meta({ description: 'What was seen, or who ended the alert, in words.' }),
    values: z.array(
      z.strictObject({
        metric: z.string(),
        value: z.number().nullable(),
        count: z.int().meta({ description: 'The number of executions or scores measured.' }),
        alerting: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'MonitorEventData' });

/** What webhooks can subscribe to, and `data` of each type of event (specification, Events). */
export const EVENT_DATA = {
  'prompt.created': PromptVersionData,
  'prompt.updated': PromptVersionData,
  'execution.completed': ExecutionCompletedData,
  'execution.failed': ExecutionFailedData,
  'evaluation.completed': EvaluationCompletedData,
  'evaluation.regression': EvaluationRegressionData,
  'release.started': ReleaseData,
  'release.awaiting_approval': ReleaseData,
  'release.promoted': ReleaseData,
  'release.rolled_back': ReleaseData,
  'release.finished': ReleaseData,
  'monitor.alerted': MonitorData,
  'monitor.recovered': MonitorData,
};

export type EventType = keyof typeof EVENT_DATA;
export const EVENT_TYPES = Object.keys(EVENT_DATA) as EventType[];
/** What a webhook gets that names no events: those of the specification. Others are for those that name them. */
export const DEFAULT_EVENT_TYPES = EVENT_TYPES.filter((type) => !/^(release|monitor)\./.test(type));

export type EventData<Type extends EventType = EventType> = z.infer<(typeof EVENT_DATA)[Type]>;

/**
 * The body of every request that delivers an event: exactly `event`, `data` and `timestamp` (specification, Delivery). The same
 * event always gives the same bytes.
 */
export function eventBody(event: { type: EventType; data: EventData; createdAt: Date }): Buffer {
  const { type, data, createdAt } = event;
  return Buffer.from(JSON.stringify({ event: type, data, timestamp: createdAt.toISOString() }));
}
