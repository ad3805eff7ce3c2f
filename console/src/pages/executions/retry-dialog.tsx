import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { get, type Page, post, type Query } from '../../api.ts';
import type { CreateExecution, Execution } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { QueryState } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatNumber, plural } from '../../format.ts';

/** Maximum number of executions that are started together. */
const MOST = 100;
/** Requests at a time. */
const AT_ONCE = 5;

/** Starts failed executions again as new ones: with the same version, variables and metadata. */
export function RetryDialog({
  filter,
  onClose,
}: {
  /** The filter of the executions, in API format. */
  filter: Query;
  onClose: () => void;
}) {
  const client = useQueryClient();
  // After an error, those that have been started are not started twice.
  const [nonce] = useState(() => crypto.randomUUID());
  const query = useQuery({
    // Not a list of the API as pages show it: it does not change while the dialog is open.
    queryKey: ['executions', 'to-retry', filter],
    queryFn: ({ signal }) =>
      get<Page<Execution>>('/executions', { ...filter, status: 'failed', recorded: false, limit: MOST }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  // What a draft said is not stored with its execution.
  const runs = query.data?.data.flatMap(({ prompt_name, prompt_version, ...run }) =>
    prompt_name === null || prompt_version === null ? [] : [{ prompt_name, version: prompt_version, ...run }],
  );
  const retry = async () => {
    const left = [...(runs ?? [])];
    const startNext = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const { prompt_name, version, variables, metadata } = next;
        const body: CreateExecution = { prompt_name, version, variables, metadata };
        await post<Execution>('/executions', body, {
          headers: { Prefer: 'respond-async', 'Idempotency-Key': `${next.id}-${nonce}` },
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, startNext));
    await client.invalidateQueries({ queryKey: ['executions'] });
    showToast(`${plural(runs?.length ?? 0, 'execution was', 'executions were')} started again.`);
  };
  const isMore = query.data !== undefined && query.data.next_cursor !== null;
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Run what failed again"
      description="Each runs as a new execution, with the same version, variables and metadata. The failed ones stay in the list."
      submitLabel="Run again"
      canSubmit={runs !== undefined && runs.length > 0}
      onSubmit={retry}
    >
      <QueryState query={{ ...query, data: runs }} what="the failed executions">
        {(found) => (
          <p className="notice">
            {found.length === 0
              ? 'None of them can run again: they are runs of drafts, or were made elsewhere.'
              : isMore
                ? `The newest ${formatNumber(found.length)} run again.`
                : `${plural(found.length, 'execution runs', 'executions run')} again.`}
          </p>
        )}
      </QueryState>
    </FormDialog>
  );
}
