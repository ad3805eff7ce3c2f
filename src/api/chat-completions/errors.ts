import { z } from 'zod';
import type { ApiError, ErrorCode } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { ErrorFormat } from '../../http/route.ts';
import type { ModelErrorCode } from '../../models/model-error.ts';
import type { ExecutionRow } from '../../services/executions/executions.ts';

const OpenAiError = z
  .object({
    error: z.object({
      message: z.string().meta({ description: 'A description of the error and of how to fix it.' }),
      type: z.enum(['invalid_request_error', 'authentication_error', 'rate_limit_error', 'server_error']),
      param: z.string().nullable().meta({ description: 'The first invalid field.' }),
      code: z.string().meta({ description: 'The error code of the service, or of the execution.' }),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .meta({ description: 'All invalid fields.' }),
    }),
  })
  .meta({ id: 'OpenAiError' });
export type OpenAiError = z.infer<typeof OpenAiError>;
type ErrorType = OpenAiError['error']['type'];

const TYPE_OF_CODE: Record<ErrorCode, ErrorType> = {
  invalid_request: 'invalid_request_error',
  payload_too_large: 'invalid_request_error',
  prompt_archived: 'invalid_request_error',
  version_conflict: 'invalid_request_error',
  idempotency_key_reused: 'invalid_request_error',
  invalid_state: 'invalid_request_error',
  authorization_pending: 'invalid_request_error',
  slow_down: 'invalid_request_error',
  denied: 'invalid_request_error',
  expired: 'invalid_request_error',
  unauthorized: 'authentication_error',
  insufficient_scope: 'authentication_error',
  not_found: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  quota_exceeded: 'rate_limit_error',
  internal_error: 'server_error',
  temporarily_unavailable: 'server_error',
};

/** Errors without details that concern the prompt. */
const ABOUT_MODEL: ReadonlySet<ErrorCode> = new Set(['not_found', 'prompt_archived']);

function body(code: string, type: ErrorType, message: string, param: string | null = null): OpenAiError {
  return { error: { message, type, param, code } };
}

/** Errors in the format that OpenAI's SDKs parse. */
export const openAiErrors: ErrorFormat = {
  name: 'OpenAi',
  schema: OpenAiError,
  present({ code, message, details }: ApiError): OpenAiError {
    const param = details?.[0]?.path ?? (ABOUT_MODEL.has(code) ? 'model' : null);
    const { error } = body(code, TYPE_OF_CODE[code], message, param);
    return { error: { ...error, ...(details !== undefined && { details }) } };
  },
};

/** An error response instead of a completion. */
export interface Failure {
  status: 400 | 404 | 429 | 500;
  /** Hints for the SDKs: `Retry-After`, and `X-Should-Retry` if the status alone would mislead them. */
  headers: Record<string, string>;
  body: OpenAiError;
}

/** The service itself has already retried for longer than this, so an earlier retry is unlikely to succeed. */
const RATE_LIMITED = { 'Retry-After': '10' };
const NO_RETRY = { 'X-Should-Retry': 'false' };

const FAILURES: Record<ModelErrorCode, Pick<Failure, 'status' | 'headers'> & { type: ErrorType; code?: string }> = {
  model_invalid_request: { status: 400, type: 'invalid_request_error', headers: {} },
  // The name that Azure OpenAI and others use.
  content_filtered: { status: 400, type: 'invalid_request_error', code: 'content_filter', headers: {} },
  model_not_found: { status: 404, type: 'invalid_request_error', headers: {} },
  model_rate_limited: { status: 429, type: 'rate_limit_error', headers: RATE_LIMITED },
  // The provider's key is not the caller's; a 401 would refer to the caller's key.
  model_authentication: { status: 500, type: 'server_error', headers: NO_RETRY },
  model_timeout: { status: 500, type: 'server_error', headers: {} },
  model_unavailable: { status: 500, type: 'server_error', headers: {} },
};

function isModelErrorCode(code: string | undefined): code is ModelErrorCode {
  return code !== undefined && Object.hasOwn(FAILURES, code);
}

/**
 * The error response for an execution that did not complete.
 * @param isRepeatable whether a repeated request returns the same execution because it has an `Idempotency-Key`
 */
export function failureOf({ id, status, error }: ExecutionRow, isRepeatable: boolean): Failure {
  const execution = publicId('execution', id);
  if (status === 'canceled')
    return {
      status: 400,
      headers: {},
      body: body('invalid_state', 'invalid_request_error', `The execution ${execution} was canceled.`),
    };
  if (status !== 'failed') return unfinished(execution, isRepeatable);
  const { code, message } = error ?? {};
  const { type, ...failure } = FAILURES[isModelErrorCode(code) ? code : 'model_unavailable'];
  return {
    status: failure.status,
    // The same key returns the same execution; an execution that crashed processes must not be retried automatically.
    headers: isRepeatable || code === 'process_ended' ? NO_RETRY : failure.headers,
    body: body(failure.code ?? code ?? 'model_unavailable', type, message ?? `The execution ${execution} failed.`),
  };
}

function unfinished(execution: string, isRepeatable: boolean): Failure {
  const advice = `Read it with GET /v1/executions/${execution}. A request with an Idempotency-Key can be repeated, and waits for the same execution.`;
  return {
    status: 500,
    // Without a key, each retry would start another run.
    headers: { 'X-Should-Retry': String(isRepeatable) },
    body: body('temporarily_unavailable', 'server_error', `The execution ${execution} is still running. ${advice}`),
  };
}

/** The response was sent in part and cannot be completed. */
export function brokenOff(id: string, reason: string): OpenAiError {
  const execution = publicId('execution', id);
  return body(
    'temporarily_unavailable',
    'server_error',
    `${reason} The execution ${execution} is still running: repeat the request with the same Idempotency-Key, or read it with GET /v1/executions/${execution}.`,
  );
}
