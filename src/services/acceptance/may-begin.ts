import { type SqlBool, sql } from 'kysely';
import { ACCEPT_WITHIN_MS } from '../../domain/limits.ts';

/**
 * Whether a stored row may still start: its caller was notified of it (`accepted_at`), or still can be. A row that was not
 * accepted in time was answered with an error, or not at all, and is withdrawn.
 */
export const mayBegin = sql.raw<SqlBool>(
  `(accepted_at is not null or created_at > now() - interval '${ACCEPT_WITHIN_MS} milliseconds')`,
);
