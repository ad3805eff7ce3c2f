import type { Readable } from 'node:stream';
import { EVENT_STREAM } from '../../http/event-stream.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { defineRoute, RawResponse, type Route, type RouteRequest } from '../../http/route.ts';
import type { ExecutionWaiter } from '../../services/executions/execution-waiter.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';
import type { StreamHub } from '../../services/streams/stream-hub.ts';
import { MAX_WAIT_SECONDS, waitMsOf } from '../executions/prefer.ts';
import {
  type ExecutionToRun,
  type RunExecutionDeps,
  runExecution,
  runToEnd,
  streamRun,
} from '../executions/run-execution.ts';
import { CompletionChunks } from './chunks.ts';
import { failureOf, openAiErrors } from './errors.ts';
import { presentCompletion } from './presenter.ts';
import { chatCompletionBodies, chatCompletionSample } from './samples.ts';
import { ChatCompletion, type ChatCompletionRequest, CreateChatCompletion, PreferHeader } from './schema.ts';
import { streamCompletion } from './stream-completion.ts';
import { toExecution } from './to-execution.ts';

export interface ChatCompletionRouteDeps extends RunExecutionDeps {
  waiter: ExecutionWaiter;
  streams: StreamHub;
}

type Request = RouteRequest<unknown, unknown, ChatCompletionRequest>;

function failed(row: ExecutionRow, request: Request): RawResponse {
  const { status, headers, body } = failureOf(row, request.header('Idempotency-Key') !== undefined);
  return new RawResponse('application/json', JSON.stringify(body), headers, status);
}

/** `/chat/completions`: executions, in OpenAI's format. */
export function chatCompletionRoutes(deps: ChatCompletionRouteDeps): Route[] {
  async function respondWithStream(request: Request, execution: ExecutionToRun): Promise<RawResponse> {
    const includeUsage = request.body.stream_options?.include_usage ?? false;
    let opened: { chunks: CompletionChunks; events: Readable } | undefined;
    await runExecution(deps, request, execution, async (run) => {
      const chunks = new CompletionChunks(run.id, { includeUsage });
      opened = { chunks, events: await streamRun(deps, request, run, chunks) };
    });
    if (opened === undefined) throw new Error('The execution was not begun.');
    // What goes wrong from now on takes nothing back: the execution runs.
    const response = await streamCompletion(opened.events, opened.chunks, request.signal);
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
        const run = { ...toExecution(request.body), isLive: true };
        if (request.body.stream) return respondWithStream(request, run);
        const waitMs = waitMsOf(request.header('Prefer'), MAX_WAIT_SECONDS);
        return runExecution(deps, request, run, async (stored) => {
          const row = await runToEnd(deps.waiter, request, stored, waitMs);
          return row.status === 'completed' ? presentCompletion(row) : failed(row, request);
        });
      },
    }),
  ];
}
