import type { ErrorDetail } from '../../domain/errors.ts';
import type { ChatMessage } from '../../domain/prompts/messages.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { EVENT_STREAM } from '../../http/event-stream.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { MAX_WAIT_SECONDS, waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { ExecutionToRun } from '../../services/executions/creation/store-execution.ts';
import { openAiErrors } from '../chat-completions/errors.ts';
import { PreferHeader } from '../chat-completions/schema.ts';
import { failed, respondWithStream } from '../chat-completions/stream-completion.ts';
import { type RunExecutionDeps, runExecution } from '../executions/run-execution.ts';
import { presentResponse } from './presenter.ts';
import { ResponseEvents } from './response-events.ts';
import { CreateResponse, ModelResponse, type ResponseRequest } from './schema.ts';
import { toMessages } from './to-messages.ts';

/** The parameters in the request, which override the prompt's. */
function parametersOf({ temperature, top_p, max_output_tokens, reasoning, text }: ResponseRequest): ModelParameters {
  const given = {
    temperature,
    top_p,
    max_tokens: max_output_tokens,
    reasoning_effort: reasoning?.effort,
    response_format: text?.format,
    verbosity: text?.verbosity,
  };
  return ModelParameters.parse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)),
  );
}

/** The requested prompt, and the model that replaces its own. */
function promptOf({ model, prompt }: ResponseRequest) {
  if (!prompt) return model ?? { promptName: '' };
  return { ...prompt.reference, ...(model !== undefined && { model: model.promptName }) };
}

/** Fields of a request that are ignored before any model is called. */
function leftOutOf({ input, reasoning }: ResponseRequest): ErrorDetail[] {
  const hasSummary = reasoning?.summary || reasoning?.generate_summary;
  const isUnreadable = input?.some((item) => item.kind === 'reasoning' && item.text === '');
  return [
    ...(hasSummary ? [{ path: 'reasoning.summary', message: 'is left out: responses have no reasoning' }] : []),
    ...(isUnreadable ? [{ path: 'input', message: 'is sent without reasoning items that have no text' }] : []),
  ];
}

/** Converts a request in the format of the Responses API to an execution. @param messages the messages of its input */
function toExecution(body: ResponseRequest, messages: readonly ChatMessage[]): ExecutionToRun {
  const { instructions, variables, tools, tool_choice: toolChoice, metadata, user } = body;
  const first: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : [];
  const all = [...first, ...messages];
  return {
    ...promptOf(body),
    variables: { ...body.prompt?.variables, ...variables },
    ...(all.length > 0 && { messages: all }),
    tools: tools ?? undefined,
    toolChoice: toolChoice ?? undefined,
    parameters: parametersOf(body),
    metadata: { ...(typeof user === 'string' && { user }), ...metadata },
    stream: body.stream ?? false,
  };
}

const tool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city right now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Samples for the documentation. */
const responseBodies = {
  Greeting: { model: 'support/greeting@production', variables: { name: 'Ada' } },
  Chat: { model: 'support/greeting', input: 'And in French?', variables: { name: 'Ada' }, temperature: 0.2 },
  Tool: {
    model: 'support/greeting',
    input: [{ role: 'user', content: 'What is the weather like in Paris?' }],
    variables: { name: 'Ada' },
    tools: [tool],
  },
};

const responseSample = {
  id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  object: 'response',
  created_at: 1_769_860_800,
  completed_at: 1_769_860_801,
  status: 'completed',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  model: 'support/greeting@3',
  output: [
    {
      id: 'msg_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello Ada, lovely to meet you!', annotations: [], logprobs: [] }],
    },
  ],
  previous_response_id: null,
  parallel_tool_calls: true,
  temperature: 0.2,
  top_p: null,
  max_output_tokens: null,
  tools: [],
  tool_choice: 'auto',
  truncation: 'disabled',
  metadata: {},
  usage: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 21,
  },
};

/** `/responses`: executions in the format of OpenAI's Responses API. */
export function responseRoutes(deps: RunExecutionDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/responses',
      operationId: 'createResponse',
      audit: 'none',
      tag: "OpenAI's format",
      summary: "Run a prompt in OpenAI's Responses API format",
      description:
        "Like `POST /chat/completions`, for clients of OpenAI's newer format, such as the AI SDK's `openai('…')`: `model` names the " +
        'prompt, and the `id` is the id of the execution. `instructions` and `input` are appended to the messages of the prompt. It ' +
        'waits up to 300 s for the execution to end; `stream: true` responds with server-sent events. There are no built-in tools, no ' +
        'conversations and no `previous_response_id`.',
      scope: 'execute',
      idempotent: true,
      body: CreateResponse,
      maxBodyBytes: MAX_BODY_BYTES_WITH_FILES,
      bodyExamples: responseBodies,
      response: ModelResponse,
      responseExample: responseSample,
      otherContentTypes: [EVENT_STREAM],
      headers: PreferHeader,
      errors: ['not_found', 'prompt_archived', 'quota_exceeded'],
      errorFormat: openAiErrors,
      async handler(request) {
        const messages = await toMessages(request.body.input ?? [], request);
        const execution = toExecution(request.body, messages);
        const leftOut = leftOutOf(request.body);
        if (request.body.stream)
          return respondWithStream(deps, request, execution, (id) => new ResponseEvents(id, leftOut));
        return runExecution(deps, request, execution, {
          waitMs: waitMsOf(request.header('Prefer'), MAX_WAIT_SECONDS),
          present: (row) => (row.status === 'completed' ? presentResponse(row, { leftOut }) : failed(row, request)),
          isLive: true,
        });
      },
    }),
  ];
}
