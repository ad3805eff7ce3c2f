import { storableText } from '../domain/text/storable-text.ts';
import type { Spent } from '../domain/usage.ts';

/** Whether the same call can succeed later, by error code. */
const RETRYABLE = {
  model_authentication: false,
  model_not_found: false,
  model_rate_limited: true,
  model_invalid_request: false,
  model_timeout: true,
  model_unavailable: true,
  content_filtered: false,
};

/** Why a call to a model failed, as an execution's `error.code` shows it. */
export type ModelErrorCode = keyof typeof RETRYABLE;
export const MODEL_ERROR_CODES = Object.keys(RETRYABLE) as ModelErrorCode[];

/** Errors that every other call of the same model would also get. */
const OF_EVERY_CALL: ReadonlySet<string> = new Set<ModelErrorCode>(['model_authentication', 'model_not_found']);
export const failsEveryCall = (code: string): boolean => OF_EVERY_CALL.has(code);

const MAX_MESSAGE_LENGTH = 500;
/** A week: longer waits are shortened to this. Timers take 24 days at most. */
export const MAX_RETRY_AFTER_MS = 7 * 24 * 60 * 60_000;

/** A failed call to a model. Its message may be shown to a caller: it contains no key and no host of this installation. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  /** Whether the same call can succeed later. */
  readonly retryable: boolean;
  /** The wait that the provider requests, 0 to `MAX_RETRY_AFTER_MS`; undefined if none. */
  readonly retryAfterMs: number | undefined;
  /** What the failed call was billed, if the provider responded. */
  readonly spent: Spent | undefined;
  /** The start of a response that could not be parsed, without our keys and hosts. */
  readonly response: string | undefined;

  /** `retryable` defaults to the code's. */
  constructor(
    code: ModelErrorCode,
    message: string,
    options: {
      retryable?: boolean;
      retryAfterMs?: number | undefined;
      spent?: Spent | undefined;
      response?: string;
    } = {},
  ) {
    super(storableText(message).slice(0, MAX_MESSAGE_LENGTH).toWellFormed());
    this.name = 'ModelError';
    this.code = code;
    this.retryable = options.retryable ?? RETRYABLE[code];
    this.retryAfterMs = this.retryable ? options.retryAfterMs : undefined;
    this.spent = options.spent;
    this.response = options.response === undefined ? undefined : storableText(options.response);
  }
}
