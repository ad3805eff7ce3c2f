import { ConnectionException, DriverException } from '@mikro-orm/core';
import pg from 'pg';

/**
 * SQLSTATE classes of a server that is shutting down, starting, or out of connections, of its own I/O errors, and of statements
 * that it aborted in favor of others (deadlocks, locks). Also `query_canceled`: a statement that is normally fast exceeded its
 * time limit, because it waited for a lock or the server can't keep up.
 */
const UNAVAILABLE = /^(08|57P|53|58|40|55P03|57014)/;
const QUERY_CANCELED = '57014';

/** The database could not be reached, or became unavailable in the middle of a statement. */
export class DatabaseUnavailableError extends Error {
  constructor(cause: unknown) {
    super('The database is unreachable.', { cause });
    this.name = 'DatabaseUnavailableError';
  }
}

/** A heavy read exceeded its time limit: it covers too much. */
export class ReadTimeoutError extends Error {
  constructor(cause: unknown) {
    super('The database canceled a read that took too long.', { cause });
    this.name = 'ReadTimeoutError';
  }
}

/** The caller of a queued heavy read has given up. */
export class ReadGivenUpError extends Error {
  constructor(cause: unknown) {
    super('A queued read was abandoned.', { cause });
    this.name = 'ReadGivenUpError';
  }
}

/**
 * Whether a driver error means that the database is unreachable rather than that the statement is wrong. Responses of PostgreSQL
 * itself have an SQLSTATE; anything else came from the connection.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError || error instanceof ConnectionException) return true;
  if (error instanceof pg.DatabaseError) return UNAVAILABLE.test(error.code ?? '');
  if (error instanceof DriverException)
    return UNAVAILABLE.test(error.code ?? '') || !/^[0-9A-Z]{5}$/.test(error.code ?? '');
  return false;
}

/** Converts a statement's error into the error that the rest of the service expects. */
export function classifyDatabaseError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && !isDatabaseUnavailable(error)) return error;
  return new DatabaseUnavailableError(error);
}

/** Like `classifyDatabaseError`, for heavy reads, where a timeout means that the read covers too much. */
export function classifyHeavyReadError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.code === QUERY_CANCELED) return new ReadTimeoutError(error);
  return classifyDatabaseError(error);
}

/** SQLSTATE class of a transaction that the server rolled back in favor of another, and of an unavailable lock. */
const PASSING = /^(40|55P03)/;

/** Whether PostgreSQL will refuse the same statement with the same values again. */
export function isRefusedByDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isDatabaseUnavailable(error) && !PASSING.test(error.code ?? '');
}

/** Whether the same statement may succeed when it is repeated: the database is down, or rolled it back in favor of another. */
export function isPassingDatabaseError(error: unknown): boolean {
  return isDatabaseUnavailable(error) || (error instanceof pg.DatabaseError && !isRefusedByDatabase(error));
}

/** Whether a unique constraint refused a row; with `constraint`, whether that one did. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === '23505' &&
    (constraint === undefined || error.constraint === constraint)
  );
}
