export type EmbeddedErrorCode =
  | 'data_dir_in_use'
  | 'data_dir_copied'
  | 'data_dir_unusable'
  | 'port_taken'
  | 'postgres_unavailable'
  | 'postgres_failed'
  | 'temporal_unavailable'
  | 'temporal_failed'
  | 'test_server_unavailable';

/**
 * A server on this machine could not be started. The message is for the person at the terminal: it states the problem and the
 * remedy, and needs no stack trace.
 */
export class EmbeddedStartError extends Error {
  readonly code: EmbeddedErrorCode;

  constructor(code: EmbeddedErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'EmbeddedStartError';
    this.code = code;
  }
}

/** Advice for a failed program's output, if the cause is the machine rather than the program. */
export function adviceFor(output: string): string | undefined {
  if (/no space left on device|ENOSPC|check free disk space|disk is full|disk quota exceeded|EDQUOT/i.test(output)) {
    return 'The disk is full: free some space, or choose a folder on another disk.';
  }
  if (/read-only file system|EROFS/i.test(output)) return 'The file system is read-only: choose another folder.';
  if (/permission denied|EACCES|EPERM/i.test(output)) {
    return 'The folder belongs to another user or cannot be written: change its owner, or choose another folder.';
  }
  if (/error while loading shared libraries|library not loaded/i.test(output)) {
    return 'A library is missing: run npm ci again with install scripts allowed, and see the name above.';
  }
  return undefined;
}

/** A text field of a thrown value. Not by `instanceof`: errors of Node.js itself may come from another realm. */
function textOf(error: unknown, field: 'code' | 'message'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : undefined;
}

/** `code` of a Node.js system error (`ENOENT`, `EACCES` …), undefined for any other value. */
export function systemErrorCode(error: unknown): string | undefined {
  return textOf(error, 'code');
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return textOf(error, 'message') ?? String(error);
}
