import type { ModelError } from '../model-error.ts';

/** A batch was not created, as far as known. */
export class SubmissionError extends Error {
  override readonly name = 'SubmissionError';
  /** Whether the provider may have created it: the request was sent, and no response confirmed its rejection. */
  readonly mayExist: boolean;
  override readonly cause: ModelError;

  constructor(cause: ModelError, mayExist: boolean) {
    super(cause.message, { cause });
    this.cause = cause;
    this.mayExist = mayExist;
  }
}
