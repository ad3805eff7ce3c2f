import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { linkOptions } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Query } from '../../api.ts';
import type { ExecutionFacets } from '../../api-types.ts';
import { DialogButton } from '../../components/button.tsx';
import { facetsQuery } from '../../components/facets-side.tsx';
import { type Cause, Failures } from '../../components/failures.tsx';
import { formatNumber } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import type { ExecutionsFilter } from './filter.ts';

/** Loaded when it is opened. */
const RetryDialog = lazy(async () => ({ default: (await import('./retry-dialog.tsx')).RetryDialog }));

/**
 * How many of some executions failed and why; empty if none did. While a filter's time moves on, the last result stays: use a key where the
 * rest of the filter can change.
 */
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
  const mayExecute = useMay('execute');
  const { data } = useQuery({
    ...facetsQuery<ExecutionFacets>('executions', filter),
    placeholderData: keepPreviousData,
  });
  const failed = data?.facets.status.find(({ value }) => value === 'failed')?.count ?? 0;
  if (data === undefined || failed === 0) return null;
  const openThose = (more: ExecutionsFilter) =>
    linkOptions({ to: '/executions', search: { ...search, ...more, status: 'failed' } });
  return (
    <Failures
      title={title(formatNumber(failed), formatNumber(data.counted))}
      causes={causes ?? data.failures}
      open={openThose({})}
      openCause={(error_code) => openThose({ error_code })}
    >
      {mayExecute && (
        <DialogButton
          label="Retry…"
          look="small"
          dialog={(close) => (
            <Suspense>
              <RetryDialog filter={filter} onClose={close} />
            </Suspense>
          )}
        />
      )}
    </Failures>
  );
}
