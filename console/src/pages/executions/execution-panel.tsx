import { useQuery } from '@tanstack/react-query';
import { linkOptions } from '@tanstack/react-router';
import { type ComponentProps, lazy, Suspense } from 'react';
import { PeekPanel } from '../../components/peek-panel.tsx';
import { Loading, QueryState } from '../../components/states.tsx';
import { executionQuery } from '../../queries.ts';
import { ExecutionActions } from './execution-actions.tsx';

// Loaded lazily, so that the list appears first.
const ExecutionDetails = lazy(async () => ({ default: (await import('./execution-details.tsx')).ExecutionDetails }));

/** An execution next to the list. */
export function ExecutionPanel({
  id,
  onStep,
  onClose,
}: { id: string } & Pick<ComponentProps<typeof PeekPanel>, 'onStep' | 'onClose'>) {
  const query = useQuery(executionQuery(id));
  return (
    <PeekPanel
      id={id}
      title={`Execution ${id.slice(-12)}`}
      page={linkOptions({ to: '/executions/$id', params: { id } })}
      onStep={onStep}
      onClose={onClose}
      actions={query.data && <ExecutionActions execution={query.data} onDeleted={onClose} />}
    >
      <QueryState query={query} what="the execution">
        {(execution) => (
          <Suspense fallback={<Loading what="the execution" />}>
            <ExecutionDetails execution={execution} />
          </Suspense>
        )}
      </QueryState>
    </PeekPanel>
  );
}
