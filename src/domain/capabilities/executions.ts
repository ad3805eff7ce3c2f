import { z } from 'zod';
import { type Declaration, event } from '../capability.ts';
import { publicIdPattern } from '../ids.ts';
import { Cost, TokenUsage } from '../usage.ts';

const ExecutionData = z.strictObject({
  execution_id: z.string().regex(publicIdPattern('execution')),
  prompt_name: z.string(),
  prompt_version: z.int(),
  model: z.string(),
});

const ExecutionCompletedData = ExecutionData.extend({
  tokens: TokenUsage,
  tokens_unknown: z.boolean().optional().meta({
    description: 'True if the usage of a call is unknown: `tokens` leaves that call out, as in the execution.',
  }),
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

const execution = {
  execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  prompt_name: 'support/greeting',
  prompt_version: 3,
  model: 'openai/gpt-4o-mini',
};

export const executions = {
  name: 'executions',
  folders: ['chat-completions', 'responses', 'providers', 'models'],
  tags: {
    Executions: 'Runs of a prompt on a model, with their tokens, cost and latency.',
    "OpenAI's format": 'Chat completions, responses and models for the SDKs of OpenAI: the model names a prompt.',
    Providers: 'The model providers that are set up.',
  },
  ids: ['execution'],
  audit: { 'execution.canceled': 'execution', 'execution.deleted': 'execution' },
  events: {
    'execution.completed': event(
      ExecutionCompletedData,
      {
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
      true,
    ),
    'execution.failed': event(
      ExecutionFailedData,
      {
        ...execution,
        error: { code: 'model_unavailable', message: 'The provider responded with status 503 and no message.' },
      },
      true,
    ),
  },
  quotas: {
    executions: {
      setting: 'QUOTA_EXECUTIONS',
      default: 10_000,
      what: 'unfinished executions',
      remedy: 'Cancel some, or wait for their end',
    },
    executionBytes: {
      setting: 'QUOTA_EXECUTION_BYTES',
      default: 50 * 1024 ** 3,
      inBytes: true,
      what: 'bytes in executions, traces, evaluations and their results',
      remedy:
        'Delete executions, traces and evaluations that are no longer needed (DELETE /v1/executions/{id}, DELETE /v1/traces/{id}, DELETE /v1/evaluations/{id}), disable rules that cannot keep up (`waiting`), or ask the ' +
        'operator to keep them for a shorter time (EXECUTION_RETENTION, TRACE_RETENTION, EVALUATION_RETENTION)',
    },
    streams: {
      setting: 'QUOTA_STREAMS',
      default: 1_000,
      what: 'streams open',
      remedy: 'Close one, or wait for its end',
    },
  },
  retention: { executions: { setting: 'EXECUTION_RETENTION', atLeast: 24 * 60 * 60_000 } },
  guides: {
    executions: 'Executions: running prompts, streams, tools, files, fallbacks',
    models: 'Models, their parameters and providers',
  },
} as const satisfies Declaration;
