import type { CallFailedError } from '../call-with-retries.ts';

/** No call of the run can succeed, for example because of wrong credentials: the run fails, and nothing is retried. */
export class RunFailedError extends Error {
  readonly code: string;

  constructor({ code, message }: { code: string; message: string }) {
    super(message);
    this.name = 'RunFailedError';
    this.code = code;
  }
}

/** Model errors that every other call of the run would also get. */
const CODES = new Set(['model_authentication', 'model_not_found']);

/** Whether an error with this code means that every call of the model fails. */
export const failsRun = (code: string): boolean => CODES.has(code);

/** @throws RunFailedError if a call failed, with each of its models, as every call of the run would */
export function throwIfRunFails({ failure, before }: CallFailedError): void {
  if ([...before, failure].every(({ code }) => failsRun(code))) throw new RunFailedError(failure);
}
