import type { ComponentProps, ReactNode } from 'react';
import { DataTable } from './data-table.tsx';
import { QueryState } from './states.tsx';

export interface List<Row> {
  data: readonly Row[] | undefined;
  error: unknown;
  refetch: () => unknown;
  loadMore?: () => void;
}

/** A list as a table, its loading state, or what to show if it is empty. */
export function ListTable<Row>({
  list,
  what,
  empty,
  ...table
}: Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'onEnd'> & {
  list: List<Row>;
  /** Completes "Loading …". */
  what: string;
  /** Undefined shows a table without rows. */
  empty?: ReactNode;
}) {
  return (
    <QueryState query={list} what={what}>
      {(rows) =>
        rows.length === 0 && empty !== undefined ? empty : <DataTable {...table} rows={rows} onEnd={list.loadMore} />
      }
    </QueryState>
  );
}
