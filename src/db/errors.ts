import { ConnectionException, DriverException } from '@mikro-orm/core';
import pg from 'pg';

/**
 * SQLSTATE classes of a server that is going away, starting, or has no connection left, of its own I/O errors, and of
 * statements that it gave up for the sake of others (deadlocks, locks). And `query_canceled`: a statement that was
 * short enough at other times did not come to its end within the time that statements have, since it waited for a lock, or
 * the server can't keep up.
 */
const UNAVAILABLE = /^(08|57P|53|58|40|55P03|57014)/;
const QUERY_CANCELED = '57014';

/** The database could not be reached, or went away in the middle of a statement. */
export class DatabaseUnavailableError extends Error {
  constructor(cause: unknown) {
    super('The database is unreachable.', { cause });
    this.name = 'DatabaseUnavailableError';
  }
}

/** A heavy read took longer than such reads may: it takes in too much. */
export class ReadTimeoutError extends Error {
  constructor(cause: unknown) {
    super('The database canceled a read that took too long.', { cause });
    this.name = 'ReadTimeoutError';
  }
}

/** Nobody waits any more for a heavy read whose turn has not come. */
export class ReadGivenUpError extends Error {
  constructor(cause: unknown) {
    super('A queued read was abandoned.', { cause });
    this.name = 'ReadGivenUpError';
  }
}

/**
 * Whether an error of the driver says that the database is unreachable rather than that the statement is wrong.
 * What PostgreSQL itself answered carries an SQLSTATE; anything else came from the connection.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError || error instanceof ConnectionException) return true;
  if (error instanceof pg.DatabaseError) return UNAVAILABLE.test(error.code ?? '');
  if (error instanceof DriverException)
    return UNAVAILABLE.test(error.code ?? '') || !/^[0-9A-Z]{5}$/.test(error.code ?? '');
  return false;
}

/** A statement's error as the rest of the service should see it. */
export function classifyDatabaseError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && !isDatabaseUnavailable(error)) return error;
  return new DatabaseUnavailableError(error);
}

/** The same for a statement on the connections for heavy reads, where a timeout says that the read takes in too much. */
export function classifyHeavyReadError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.code === QUERY_CANCELED) return new ReadTimeoutError(error);
  return classifyDatabaseError(error);
}

/** SQLSTATE class of a transaction that the server rolled back for another's sake, and of a lock that was not to be had. */
const PASSING = /^(40|55P03)/;

/** Whether PostgreSQL will refuse the same statement again: with what it carries, it can't be run. */
export function isRefusedByDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isDatabaseUnavailable(error) && !PASSING.test(error.code ?? '');
}

/** Whether the same statement may well succeed when it is run again: the database is away, or rolled it back for another's sake. */
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
