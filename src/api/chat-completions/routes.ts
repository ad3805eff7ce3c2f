import { EVENT_STREAM } from '../../http/event-stream.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { defineRoute, RawResponse, type Route, type RouteRequest } from '../../http/route.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { ExecutionToRun } from '../../services/executions/store-execution.ts';
import { MAX_WAIT_SECONDS, waitMsOf } from '../executions/prefer.ts';
import { type RunExecutionDeps, runExecution, streamExecution } from '../executions/run-execution.ts';
import { CompletionChunks } from './chunks.ts';
import { failureOf, openAiErrors } from './errors.ts';
import { presentCompletion } from './presenter.ts';
import { chatCompletionBodies, chatCompletionSample } from './samples.ts';
import { ChatCompletion, type ChatCompletionRequest, CreateChatCompletion, PreferHeader } from './schema.ts';
import { streamCompletion } from './stream-completion.ts';
import { toExecution } from './to-execution.ts';

type Request = RouteRequest<unknown, unknown, ChatCompletionRequest>;

function failed(row: ExecutionRow, request: Request): RawResponse {
  const { status, headers, body } = failureOf(row, request.header('Idempotency-Key') !== undefined);
  return new RawResponse('application/json', JSON.stringify(body), headers, status);
}

/** `/chat/completions`: executions, in OpenAI's format. */
export function chatCompletionRoutes(deps: RunExecutionDeps): Route[] {
  async function respondWithStream(request: Request, execution: ExecutionToRun): Promise<RawResponse> {
    const includeUsage = request.body.stream_options?.include_usage ?? false;
    const chunksOf = (id: string) => new CompletionChunks(id, { includeUsage });
    const { events, format } = await streamExecution(deps, request, execution, chunksOf);
    // What goes wrong from now on takes nothing back: the execution runs.
    const response = await streamCompletion(events, format, request.signal);
    return response instanceof RawResponse ? response : failed(response, request);
  }

  return [
    defineRoute({
      method: 'post',
      path: '/chat/completions',
      operationId: 'createChatCompletion',
      audit: 'none',
      tag: "OpenAI's format",
      summary: "Run a prompt, in the format of OpenAI's chat completions",
      description:
        "For OpenAI's SDKs and what else speaks their format: `model` names the prompt. It is an execution like any other, and " +
        'the `id` is its id. `messages` are appended to those of the prompt; what the request leaves out is as the prompt has it. ' +
        'It waits up to 300 s for the end; with `stream: true` it responds with server-sent events. An execution that fails is an ' +
        'error: 400, 404, 429 or 500, or in the middle of a stream `{"error": …}`.',
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
        if (request.body.stream) return respondWithStream(request, execution);
        return runExecution(deps, request, execution, {
          waitMs: waitMsOf(request.header('Prefer'), MAX_WAIT_SECONDS),
          present: (row) => (row.status === 'completed' ? presentCompletion(row) : failed(row, request)),
          isLive: true,
        });
      },
    }),
  ];
}
