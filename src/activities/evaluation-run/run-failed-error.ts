import type { CallFailedError } from '../call-with-retries.ts';

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

/** Whether every other call of the model fails like one that has failed with this code. */
export const failsRun = (code: string): boolean => CODES.has(code);

/** @throws RunFailedError where one call failed as every call of the run would, with each of its models */
export function throwIfRunFails({ failure, before }: CallFailedError): void {
  if ([...before, failure].every(({ code }) => failsRun(code))) throw new RunFailedError(failure);
}
