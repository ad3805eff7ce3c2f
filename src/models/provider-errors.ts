import { z } from 'zod';
import { MAX_RETRY_AFTER_MS, ModelError, type ModelErrorCode } from './model-error.ts';

/** FastAPI's format for invalid requests, sent by Mistral and vLLM. */
const Faults = z
  .array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() }))
  .transform((faults) => faults.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '));
const Message = z.union([z.string(), z.object({ detail: Faults }).transform(({ detail }) => detail)]);

/**
 * The error formats of providers: OpenAI `{error: {message, type, code}}`, Anthropic `{type, error: {type, message}}`, Google `{error:
 * {code, message, status, details}}`, Mistral `{message, type, code}`, some servers `{error: "…"}`, `{message}` or `{detail}`.
 */
const Fault = z.object({
  message: Message.optional().catch(undefined),
  type: z.string().optional().catch(undefined),
  status: z.string().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  details: z
    .array(
      z.object({
        reason: z.string().optional().catch(undefined),
        retryDelay: z.string().optional().catch(undefined),
      }),
    )
    .optional()
    .catch(undefined),
  innererror: z.object({ code: z.string() }).optional().catch(undefined),
});
type Fault = z.infer<typeof Fault>;

const ErrorBody = z.union([
  z.object({ error: z.string() }).transform(({ error }): Fault => ({ message: error })),
  z.object({ error: Fault }).transform(({ error }) => error),
  z.object({ detail: z.union([z.string(), Faults]) }).transform(({ detail }): Fault => ({ message: detail })),
  Fault,
]);

const BodyWithError = z.object({ error: z.union([z.string(), z.looseObject({})]) });
const BodyWithCompletion = z.union([
  z.object({ choices: z.array(z.unknown()).min(1) }),
  z.object({ content: z.array(z.unknown()) }),
  z.object({ candidates: z.array(z.unknown()).min(1) }),
]);

/** The name of an error is more specific than its status: an exhausted quota is also a 429. */
const CODES_BY_NAME: readonly (readonly [RegExp, ModelErrorCode, { retryable?: boolean }])[] = [
  [
    /^(content_filter|content_policy_violation|ResponsibleAIPolicyViolation|moderation_blocked)$/i,
    'content_filtered',
    {},
  ],
  [
    /^(insufficient_quota|billing_hard_limit_reached|billing_not_active|billing_error)$/i,
    'model_rate_limited',
    { retryable: false },
  ],
  [/^(model_not_found|DeploymentNotFound|invalid_model)$/i, 'model_not_found', {}],
  [/^(invalid_api_key|API_KEY_INVALID)$/i, 'model_authentication', {}],
];

/** Used only if the status is not an error: an error in a response with status 200. */
const CODES_BY_KIND: readonly (readonly [RegExp, ModelErrorCode])[] = [
  [/authentication|permission|unauthenticated/i, 'model_authentication'],
  [/not_found/i, 'model_not_found'],
  [/rate_limit|resource_exhausted|too_many_requests/i, 'model_rate_limited'],
  [/timeout|deadline_exceeded/i, 'model_timeout'],
  [/invalid_request|invalid_argument|failed_precondition|badrequest/i, 'model_invalid_request'],
];

/**
 * Converts a provider's error response to an error.
 *
 * @param redact Removes our keys and hosts from the provider's message.
 * @see https://platform.openai.com/docs/guides/error-codes, https://docs.anthropic.com/en/api/errors,
 * https://ai.google.dev/gemini-api/docs/troubleshooting
 */
export function providerError(
  response: { status: number; headers: Headers; text: string },
  redact: (text: string) => string,
): ModelError {
  const fault = parseFault(response.text);
  const status = response.status >= 300 ? response.status : typeof fault.code === 'number' ? fault.code : undefined;
  const names = namesOf(fault);
  const message = fault.message
    ? redact(fault.message)
    : `The provider responded with ${status === undefined ? 'an error' : `status ${status}`} and no message.`;
  const retryAfterMs = retryAfterOf(response.headers) ?? retryDelayOf(fault);

  for (const [pattern, code, { retryable }] of CODES_BY_NAME) {
    if (names.some((name) => pattern.test(name))) {
      return new ModelError(code, message, { ...(retryable !== undefined && { retryable }), retryAfterMs });
    }
  }
  if (status !== undefined) return errorOfStatus(status, message, retryAfterMs);
  const kind = CODES_BY_KIND.find(([pattern]) => names.some((name) => pattern.test(name)));
  return new ModelError(kind?.[1] ?? 'model_unavailable', message, { retryAfterMs });
}

/** Whether a body with status 200 is an error, as sent by some proxies. */
export function isErrorBody(text: string): boolean {
  if (!text.includes('"error"')) return false;
  const body = parseJson(text);
  return BodyWithError.safeParse(body).success && !BodyWithCompletion.safeParse(body).success;
}

/** The error for an HTML page with status 200: it came from a gateway, and no model was called. Undefined if it is not a page. */
export function pageError(headers: Headers, text: string): ModelError | undefined {
  const isHtml = /^\s*text\/html\b/i.test(headers.get('content-type') ?? '');
  if (!isHtml && !/^\s*(<\?xml[^>]*>\s*)?<(!doctype\s+html|html)\b/i.test(text)) return undefined;
  if (parseJson(text) !== undefined) return undefined;
  return new ModelError(
    'model_unavailable',
    'The provider responded with an HTML page instead of a model response: a gateway has failed, or the base URL is wrong.',
  );
}

function errorOfStatus(status: number, message: string, retryAfterMs: number | undefined): ModelError {
  if (status === 401 || status === 403) return new ModelError('model_authentication', message);
  if (status === 404) return new ModelError('model_not_found', message);
  if (status === 402) return new ModelError('model_rate_limited', message, { retryable: false });
  if (status === 408) return new ModelError('model_timeout', message, { retryAfterMs });
  if (status === 429) return new ModelError('model_rate_limited', message, { retryAfterMs });
  // 409, 425 and 499: the provider gave up for its own reasons.
  if (status >= 500 || status === 409 || status === 425 || status === 499) {
    return new ModelError('model_unavailable', message, { retryAfterMs });
  }
  if (status < 400) {
    const redirected = `The provider responded with status ${status}; redirects are not followed, check its base URL.`;
    return new ModelError('model_unavailable', redirected, { retryable: false });
  }
  return new ModelError('model_invalid_request', message);
}

function parseFault(text: string): Fault {
  const body = parseJson(text);
  const parsed = ErrorBody.safeParse(Array.isArray(body) ? body[0] : body);
  return parsed.success ? parsed.data : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function namesOf(fault: Fault): string[] {
  const reasons = (fault.details ?? []).map(({ reason }) => reason);
  return [fault.code, fault.type, fault.status, fault.innererror?.code, ...reasons].filter(
    (name) => typeof name === 'string',
  );
}

/** `retry-after-ms` (OpenAI), or `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const inMs = decimalOf(headers.get('retry-after-ms')?.trim());
  if (inMs !== undefined) return boundedWait(inMs);
  const value = headers.get('retry-after')?.trim();
  const seconds = decimalOf(value);
  if (seconds !== undefined) return boundedWait(seconds * 1000);
  const at = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(at) ? undefined : boundedWait(at - Date.now());
}

/** Google's `RetryInfo`, a duration such as `33.5s`. */
function retryDelayOf(fault: Fault): number | undefined {
  const delay = fault.details?.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
  const seconds = delay?.endsWith('s') ? decimalOf(delay.slice(0, -1)) : undefined;
  return seconds === undefined ? undefined : boundedWait(seconds * 1000);
}

/** Digits without sign or exponent. With very many digits the number can be Infinity. */
function decimalOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** Whole milliseconds within the range of timers and Temporal, whatever a provider sends. */
function boundedWait(ms: number): number {
  return Math.ceil(Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS));
}
