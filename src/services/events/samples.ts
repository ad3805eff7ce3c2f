import type { EventData, EventType } from '../../domain/webhooks/events.ts';

const prompt = { prompt_name: 'support/greeting', version: 3, previous_version: 2, model: 'openai/gpt-4o-mini' };
const execution = {
  execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
  prompt_version: 3,
  model: 'openai/gpt-4o-mini',
};
const evaluation = {
  evaluation_id: 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
  score: 0.875,
  examples_evaluated: 8,
  regressions: 1,
};

const release = {
  release_id: 'rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
  label: 'production',
  stable_version: 3,
  candidate_version: 7,
};

const monitor = { monitor: 'support/errors', prompt_name: 'support/greeting', label: 'production' };

/** A sample of each event's `data`, for tests of webhooks and for the documentation. */
export const SAMPLE_DATA: { [Type in EventType]: EventData<Type> } = {
  'prompt.created': { ...prompt, commit_message: 'Greet by name' },
  'prompt.updated': { ...prompt, commit_message: 'Greet by name' },
  'execution.completed': {
    ...execution,
    tokens: { input: 12, output: 8, cached_input: 0, reasoning: 0, total: 20 },
    cost: {
      amount: '0.0000066',
      currency: 'USD',
      pricing: {
        source: 'genai-prices@0.1.8',
        model: 'gpt-4o-mini',
        input_per_million: '0.15',
        cached_input_per_million: '0.075',
        output_per_million: '0.6',
      },
    },
    latency: { queue_ms: 9, model_ms: 611, total_ms: 634 },
  },
  'execution.failed': {
    ...execution,
    error: { code: 'model_unavailable', message: 'The provider responded with status 503 and no message.' },
  },
  'evaluation.completed': evaluation,
  'evaluation.regression': { ...evaluation, threshold: 0.9 },
  'release.started': { ...release, status: 'in_progress', reason: null },
  'release.awaiting_approval': { ...release, status: 'awaiting_approval', reason: null },
  'release.promoted': { ...release, status: 'baking', reason: null },
  'release.rolled_back': { ...release, status: 'rolled_back', reason: 'error_rate 0.061 is above 0.04' },
  'release.finished': { ...release, status: 'succeeded', reason: null },
  'monitor.alerted': {
    ...monitor,
    state: 'alerting',
    reason: 'error_rate 0.25 is above 0.1 (40 in 15 min)',
    values: [{ metric: 'error_rate', value: 0.25, count: 40, alerting: true }],
  },
  'monitor.recovered': {
    ...monitor,
    state: 'ok',
    reason: 'error_rate 0.05 is back at 0.09 or better (60 in 15 min)',
    values: [{ metric: 'error_rate', value: 0.05, count: 60, alerting: false }],
  },
};
