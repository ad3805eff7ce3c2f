import { type SqlBool, sql } from 'kysely';
import { ACCEPT_WITHIN_MS } from '../../domain/limits.ts';

/**
 * Whether what was stored for a caller may still begin: a caller was told of it (`accepted_at`), or will be. What was not
 * accepted in time was answered with an error, or with nothing: it is withdrawn.
 */
export const mayBegin = sql.raw<SqlBool>(
  `(accepted_at is not null or created_at > now() - interval '${ACCEPT_WITHIN_MS} milliseconds')`,
);
