import { EVENT_STREAM } from '../../http/event-stream.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { MAX_WAIT_SECONDS, waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { type RunExecutionDeps, runExecution } from '../executions/run-execution.ts';
import { CompletionChunks } from './chunks.ts';
import { openAiErrors } from './errors.ts';
import { presentCompletion } from './presenter.ts';
import { chatCompletionBodies, chatCompletionSample } from './samples.ts';
import { ChatCompletion, CreateChatCompletion, PreferHeader } from './schema.ts';
import { failed, respondWithStream } from './stream-completion.ts';
import { toExecution } from './to-execution.ts';

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
