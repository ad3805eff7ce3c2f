/** No call of the run can succeed, as with wrong credentials: the run ends as failed, and nothing is retried. */
export class RunFailedError extends Error {
  readonly code: string;

  constructor({ code, message }: { code: string; message: string }) {
    super(message);
    this.name = 'RunFailedError';
    this.code = code;
  }
}

/** Errors of models that every other call of the run would end with, too. */
const CODES = new Set(['model_authentication', 'model_not_found']);

/** @throws RunFailedError where the failure of one call is that of all calls to the model */
export function throwIfRunFails(failure: { code: string; message: string }): void {
  if (CODES.has(failure.code)) throw new RunFailedError(failure);
}
