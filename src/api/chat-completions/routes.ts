import { invalidField } from '../../domain/errors.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { defineRoute, RawResponse, type Route } from '../../http/route.ts';
import type { ExecutionWaiter } from '../../services/executions/execution-waiter.ts';
import { MAX_WAIT_SECONDS, waitMsOf } from '../executions/prefer.ts';
import { type RunExecutionDeps, runExecution, runToEnd } from '../executions/run-execution.ts';
import { type Failure, failureOf, openAiErrors } from './errors.ts';
import { presentCompletion } from './presenter.ts';
import { chatCompletionBodies, chatCompletionSample } from './samples.ts';
import { ChatCompletion, CreateChatCompletion, PreferHeader } from './schema.ts';
import { toExecution } from './to-execution.ts';

export interface ChatCompletionRouteDeps extends RunExecutionDeps {
  waiter: ExecutionWaiter;
}

function failed({ status, headers, body }: Failure): RawResponse {
  return new RawResponse('application/json', JSON.stringify(body), headers, status);
}

/** `/chat/completions`: executions, in OpenAI's format. */
export function chatCompletionRoutes(deps: ChatCompletionRouteDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/chat/completions',
      operationId: 'createChatCompletion',
      tag: "OpenAI's format",
      summary: "Run a prompt, in the format of OpenAI's chat completions",
      description:
        "For OpenAI's SDKs and what else speaks their format: `model` names the prompt. It is an execution like any other, and " +
        'the `id` is its id. `messages` are appended to those of the prompt; what the request leaves out is as the prompt has it. ' +
        'It waits up to 300 s for the end. An execution that fails is an error: 400, 404, 429 or 500.',
      scope: 'execute',
      idempotent: true,
      body: CreateChatCompletion,
      maxBodyBytes: MAX_BODY_BYTES_WITH_FILES,
      bodyExamples: chatCompletionBodies,
      response: ChatCompletion,
      responseExample: chatCompletionSample,
      headers: PreferHeader,
      errors: ['not_found', 'prompt_archived', 'quota_exceeded'],
      errorFormat: openAiErrors,
      async handler(request) {
        const waitMs = waitMsOf(request.header('Prefer'), MAX_WAIT_SECONDS);
        const isRepeatable = request.header('Idempotency-Key') !== undefined;
        if (request.body.stream) throw invalidField('stream', 'must be false: completions are not streamed yet');
        return runExecution(deps, request, { ...toExecution(request.body), isLive: true }, async (run) => {
          const row = await runToEnd(deps.waiter, request, run, waitMs);
          return row.status === 'completed' ? presentCompletion(row) : failed(failureOf(row, isRepeatable));
        });
      },
    }),
  ];
}
