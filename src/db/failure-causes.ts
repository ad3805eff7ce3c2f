import { sql } from 'kysely';

const MESSAGE_CHARACTERS = 500;

/** The columns of `FailureCauses` (`domain/failures.ts`), and the grouping of rows for them. @param error a column with `{code, message}` */
export function causesOf(error: string) {
  const code = sql<string>`${sql.ref(error)}->>'code'`;
  const message = sql<string>`${sql.ref(error)}->>'message'`;
  return {
    columns: [
      code.as('code'),
      sql<string>`left(min(${message}), ${sql.lit(MESSAGE_CHARACTERS)})`.as('message'),
      sql<number>`count(*)::int`.as('count'),
    ] as const,
    // Messages that differ only in words with digits, such as ids and times, are one cause.
    groups: [code, sql`regexp_replace(${message}, '\\S*\\d\\S*', '#', 'g')`] as const,
  };
}
