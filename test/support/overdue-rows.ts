import type { CheckedTable } from '../../src/db/claim.ts';
import type { Query } from '../../src/db/database.ts';

/** When rows are looked at next, read and changed past the service. */
export interface OverdueRows {
  /** As if their next look were due since a second ago. */
  makeOverdue: (...ids: string[]) => Promise<unknown>;
  /** Seconds until the next look. */
  secondsToCheck: (id: string) => Promise<number>;
}

export function overdueRows(query: Query, table: CheckedTable): OverdueRows {
  return {
    makeOverdue: (...ids) =>
      query({ text: `update ${table} set check_at = now() - interval '1 second' where id = any($1::uuid[])` }, [ids]),
    async secondsToCheck(id) {
      const [row] = await query<{ seconds: number }>(
        { text: `select extract(epoch from check_at - now())::float8 as seconds from ${table} where id = $1` },
        [id],
      );
      return row?.seconds ?? Number.NaN;
    },
  };
}
