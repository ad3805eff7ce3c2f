/**
 * The built-in models and what each does; they make no requests and cost nothing. Their tokens are about a fourth of the
 * characters. In a list of messages, the prompt is the last user message. When streamed, they respond word by word.
 */
export const SANDBOX_MODELS = {
  'sandbox/echo': 'responds with the prompt as it was sent',
  'sandbox/fixed':
    'responds from a small fixed table, e.g. "4" to "2+2", and with one fixed sentence to everything else',
  'sandbox/json': 'responds with {"echo": prompt}',
  'sandbox/judge':
    'scores for an LLM judge: {"reason", "score"}, the highest score when the text after the line "Output:" equals the text after the line "Expected:"',
  'sandbox/tools':
    'calls the first tool, or the one that tool_choice names, with an input made from its schema; given the results, repeats them; echoes without tools',
  'sandbox/slow': 'echoes after 2 s',
  'sandbox/slow-N': 'echoes after N milliseconds, up to 600000; streamed, the words are spread over that time',
  'sandbox/stall': 'never responds: the call ends at its time limit',
  'sandbox/fail': 'always fails as model_unavailable, non-retryable',
  'sandbox/fail-N': 'always fails with what a provider means by status N: 400, 401, 403, 404, 408, 429, 500 or 503',
  'sandbox/flaky': 'fails as model_unavailable, but echoes every second call',
} as const;

const SLOW_MS = 2000;
const MAX_SLOW_MS = 600_000;
const FAIL_STATUSES = [400, 401, 403, 404, 408, 429, 500, 503];
/** Ids of the models without a number in their name. */
export const PLAIN_SANDBOX_MODELS = ['echo', 'fixed', 'json', 'judge', 'tools', 'slow', 'stall', 'fail', 'flaky'];

/** Whether `sandbox/<id>` is a model. */
export function sandboxModelExists(id: string): boolean {
  return PLAIN_SANDBOX_MODELS.includes(id) || slowMsOf(id) !== undefined || failStatusOf(id) !== undefined;
}

/** The delay of `sandbox/<id>` in milliseconds; undefined if it is not a slow model. */
export function slowMsOf(id: string): number | undefined {
  if (id === 'slow') return SLOW_MS;
  const ms = Number(/^slow-(\d{1,6})$/.exec(id)?.[1] ?? Number.NaN);
  return ms <= MAX_SLOW_MS ? ms : undefined;
}

/** The error status of `sandbox/<id>`; undefined if it does not fail with one. */
export function failStatusOf(id: string): number | undefined {
  return FAIL_STATUSES.find((status) => id === `fail-${status}`);
}
