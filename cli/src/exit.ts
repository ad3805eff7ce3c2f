import {
  InsufficientScopeError,
  InvalidRequestError,
  InvalidStateError,
  NotFoundError,
  PmsError,
  PromptArchivedError,
  QuotaExceededError,
  UnauthorizedError,
} from 'pms-client';
import { CliError, EXIT, type ExitStatus } from './exit-status.ts';

export { CliError, EXIT } from './exit-status.ts';

/** The service would reject the request again: it must be changed, or something at the service. */
const OF_THE_CALLER = [
  InvalidRequestError,
  InvalidStateError,
  NotFoundError,
  PromptArchivedError,
  QuotaExceededError,
  UnauthorizedError,
  InsufficientScopeError,
];

/** The exit status for a client error. */
export const statusOf = (error: PmsError): typeof EXIT.usage | typeof EXIT.service =>
  OF_THE_CALLER.some((known) => error instanceof known) ? EXIT.usage : EXIT.service;

/** The exit status and message for a command that threw an error. */
export function endOf(error: unknown): { status: ExitStatus; message: string } {
  if (error instanceof CliError) return { status: error.status, message: error.message };
  if (error instanceof UnauthorizedError)
    return { status: EXIT.usage, message: `${error.message} Log in with pms login, or set PMS_API_KEY.` };
  if (error instanceof PmsError) {
    const status = statusOf(error);
    return { status, message: status === EXIT.service ? withTraces(error) : error.message };
  }
  if (isFileError(error)) return { status: EXIT.usage, message: fileProblem(error) };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { status: EXIT.service, message };
}

/** Appends the keys for finding out whether the service acted, and for repeating the request. */
function withTraces({ message, idempotencyKey, executionId }: PmsError): string {
  const traces = [
    ...(executionId === undefined ? [] : [`execution ${executionId}, still running`]),
    ...(idempotencyKey === undefined ? [] : [`Idempotency-Key ${idempotencyKey}`]),
  ];
  return traces.length === 0 ? message : `${message} (${traces.join('; ')})`;
}

const FILE_PROBLEMS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `There is no file or folder ${path}.`,
  EISDIR: (path) => `${path} is a folder: name a file.`,
  ENOTDIR: (path) => `${path} goes through a file: a part of it is not a folder.`,
  EACCES: (path) => `This user may not read or write ${path}.`,
  EPERM: (path) => `This user may not read or write ${path}.`,
  ENOSPC: (path) => `The disk is full: ${path} cannot be written.`,
};

const fileProblem = ({ code = '', path = '', message }: NodeJS.ErrnoException) =>
  FILE_PROBLEMS[code]?.(path) ?? message;

/** Whether a file is missing, unreadable or not writable. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}
