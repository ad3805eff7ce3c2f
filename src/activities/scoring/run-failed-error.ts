import { failsEveryCall } from '../../models/model-error.ts';
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

/** @throws RunFailedError if a call failed, with each of its models, as every call of the run would */
export function throwIfRunFails({ failure, before }: CallFailedError): void {
  if ([...before, failure].every(({ code }) => failsEveryCall(code))) throw new RunFailedError(failure);
}
