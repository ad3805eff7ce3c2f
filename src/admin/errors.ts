import { DriverException } from '@mikro-orm/core';
import pg from 'pg';
import { SettingsError } from '../config.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { ApiError } from '../domain/errors.ts';
import { EmbeddedStartError } from '../embedded/errors.ts';

/** A command failed; the message states the reason and the remedy. */
export class AdminError extends Error {}

const UNDEFINED_TABLE = '42P01';

/** The error message for the person at the terminal. */
export function sentenceOf(error: unknown): string {
  if (
    error instanceof AdminError ||
    error instanceof EmbeddedStartError ||
    error instanceof ApiError ||
    error instanceof SettingsError
  )
    return error.message;
  if (isDatabaseUnavailable(error))
    return 'Cannot reach the database: start it or correct DATABASE_URL, then try again.';
  if (error instanceof pg.DatabaseError || error instanceof DriverException)
    return error.code === UNDEFINED_TABLE
      ? 'The database has no tables yet: run npm run migrate first.'
      : `The database refused the statement: ${error.message}.`;
  return error instanceof Error ? error.message : String(error);
}
