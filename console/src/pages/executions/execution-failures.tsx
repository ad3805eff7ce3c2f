import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Query } from '../../api.ts';
import type { ExecutionFacets } from '../../api-types.ts';
import { facetsQuery } from '../../components/facets-side.tsx';
import { type Cause, Failures } from '../../components/failures.tsx';
import { formatNumber } from '../../format.ts';
import type { ExecutionsFilter } from './filter.ts';

/** How many of some executions failed and why; empty if none did. */
export function ExecutionFailures({
  filter,
  search,
  causes,
  title,
}: {
  /** The filter of the executions, in API format. */
  filter: Query;
  /** The same filter for the address of the list. */
  search: ExecutionsFilter;
  /** The causes, if a record has them. Default: those of the executions. */
  causes?: readonly Cause[] | undefined;
  title: (failed: string, all: string) => string;
}) {
  const { data } = useQuery(facetsQuery<ExecutionFacets>('executions', filter));
  const failed = data?.facets.status.find(({ value }) => value === 'failed')?.count ?? 0;
  if (data === undefined || failed === 0) return null;
  return (
    <Failures title={title(formatNumber(failed), formatNumber(data.counted))} causes={causes ?? data.failures}>
      <Link to="/executions" search={{ ...search, status: 'failed' }} className="button small">
        Show those that failed
      </Link>
    </Failures>
  );
}
