import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { EVENT_STREAM } from '../../http/event-stream.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { MAX_WAIT_SECONDS, waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { ExecutionToRun } from '../../services/executions/creation/store-execution.ts';
import { type RunExecutionDeps, runExecution } from '../executions/run-execution.ts';
import { CompletionChunks } from './chunks.ts';
import { openAiErrors } from './errors.ts';
import { presentCompletion } from './presenter.ts';
import { ChatCompletion, type ChatCompletionRequest, CreateChatCompletion, PreferHeader } from './schema.ts';
import { failed, respondWithStream } from './stream-completion.ts';

type Format = NonNullable<ChatCompletionRequest['response_format']>;

function formatOf(format: Format): NonNullable<ModelParameters['response_format']> {
  if (format.type !== 'json_schema') return format;
  const { description, strict, ...rest } = format.json_schema;
  return {
    type: 'json_schema',
    json_schema: { ...rest, ...(description && { description }), ...(typeof strict === 'boolean' && { strict }) },
  };
}

/** The parameters in the request, which override the prompt's. */
function parametersOf(body: ChatCompletionRequest): ModelParameters {
  const { response_format: format, max_completion_tokens: maxTokens } = body;
  const given = {
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    max_tokens: maxTokens ?? body.max_tokens,
    stop: body.stop,
    seed: body.seed,
    frequency_penalty: body.frequency_penalty,
    presence_penalty: body.presence_penalty,
    reasoning_effort: body.reasoning_effort,
    parallel_tool_calls: body.parallel_tool_calls,
    verbosity: body.verbosity,
    response_format: format && formatOf(format),
  };
  return ModelParameters.parse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)),
  );
}

/** The first one present in the body, in its metadata, or in OpenAI's own fields for the user. */
function rolloutKeyOf(body: ChatCompletionRequest): string | undefined {
  const { rollout_key: own, metadata, safety_identifier: identifier, user } = body;
  const given = [own, metadata?.['rollout_key'], identifier, user];
  return given.find((key): key is string => typeof key === 'string' && key !== '');
}

/** Converts a request in OpenAI's format to an execution. */
function toExecution(body: ChatCompletionRequest): ExecutionToRun {
  const { model, messages, variables, tools, tool_choice: toolChoice, metadata, user } = body;
  return {
    ...model,
    variables,
    ...(messages.length > 0 && { messages }),
    tools: tools ?? undefined,
    toolChoice: toolChoice ?? undefined,
    parameters: parametersOf(body),
    metadata: { ...(typeof user === 'string' && { user }), ...metadata },
    rolloutKey: rolloutKeyOf(body),
  };
}

const function_ = {
  name: 'get_weather',
  description: 'The weather in a city right now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Samples for the documentation. */
const chatCompletionBodies = {
  Greeting: { model: 'support/greeting@production', messages: [], variables: { name: 'Ada' } },
  Chat: {
    model: 'support/greeting',
    messages: [{ role: 'user', content: 'And in French?' }],
    variables: { name: 'Ada' },
    temperature: 0.2,
  },
  Tool: {
    model: 'support/greeting',
    messages: [{ role: 'user', content: 'What is the weather like in Paris?' }],
    variables: { name: 'Ada' },
    tools: [{ type: 'function', function: function_ }],
  },
};

const chatCompletionSample = {
  id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  object: 'chat.completion',
  created: 1_769_860_800,
  model: 'support/greeting@3',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello Ada, lovely to meet you!', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 12,
    completion_tokens: 9,
    total_tokens: 21,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  },
};

/** `/chat/completions`: executions in OpenAI's format. */
export function chatCompletionRoutes(deps: RunExecutionDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/chat/completions',
      operationId: 'createChatCompletion',
      audit: 'none',
      tag: "OpenAI's format",
      summary: "Run a prompt in OpenAI's Chat Completions format",
      description:
        "For OpenAI's SDKs and compatible clients: `model` names the prompt. The run is an ordinary execution, and " +
        '`id` is its id. `messages` are appended to those of the prompt; omitted fields keep the values of the prompt. ' +
        'Waits up to 300 s for the execution to end; `stream: true` responds with server-sent events. A failed execution is an ' +
        'error response (400, 404, 429 or 500) or, within a stream, `{"error": …}`.',
      scope: 'execute',
      idempotent: true,
      body: CreateChatCompletion,
      maxBodyBytes: MAX_BODY_BYTES_WITH_FILES,
      bodyExamples: chatCompletionBodies,
      response: ChatCompletion,
      responseExample: chatCompletionSample,
      otherContentTypes: [EVENT_STREAM],
      headers: PreferHeader,
      errors: ['not_found', 'prompt_archived', 'quota_exceeded'],
      errorFormat: openAiErrors,
      async handler(request) {
        const execution = toExecution(request.body);
        const includeUsage = request.body.stream_options?.include_usage ?? false;
        if (request.body.stream)
          return respondWithStream(deps, request, execution, (id) => new CompletionChunks(id, { includeUsage }));
        return runExecution(deps, request, execution, {
          waitMs: waitMsOf(request.header('Prefer'), MAX_WAIT_SECONDS),
          present: (row) => (row.status === 'completed' ? presentCompletion(row) : failed(row, request)),
          isLive: true,
        });
      },
    }),
  ];
}
