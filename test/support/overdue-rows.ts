import type { CheckedTable } from '../../src/db/claim.ts';
import type { Query } from '../../src/db/database.ts';

/** Reads and changes when rows are checked next, without the service. */
export interface OverdueRows {
  /** Makes their next check due since a second ago. */
  makeOverdue: (...ids: string[]) => Promise<unknown>;
  /** Seconds until the next check. */
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
