import { EVENT_STREAM } from '../../http/event-stream.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { MAX_WAIT_SECONDS, waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { openAiErrors } from '../chat-completions/errors.ts';
import { PreferHeader } from '../chat-completions/schema.ts';
import { failed, respondWithStream } from '../chat-completions/stream-completion.ts';
import { type RunExecutionDeps, runExecution } from '../executions/run-execution.ts';
import { presentResponse } from './presenter.ts';
import { ResponseEvents } from './response-events.ts';
import { responseBodies, responseSample } from './samples.ts';
import { CreateResponse, ModelResponse } from './schema.ts';
import { leftOutOf, toExecution } from './to-execution.ts';
import { toMessages } from './to-messages.ts';

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
