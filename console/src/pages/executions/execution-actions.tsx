import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Inbox, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import { pathOf, post, remove } from '../../api.ts';
import type { Execution } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { TemporalLink } from '../../components/temporal-link.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { hasEnded } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { AddToQueueDialog } from './add-to-queue-dialog.tsx';
import { MakeDatasetDialog } from './make-dataset-dialog.tsx';

/** What can be done with an execution. */
export function ExecutionActions({ execution, onDeleted }: { execution: Execution; onDeleted: () => unknown }) {
  const { id, status, workflow_id } = execution;
  const client = useQueryClient();
  const [asked, setAsked] = useState<'dataset' | 'queue' | 'delete'>();
  const close = () => setAsked(undefined);
  const mayExecute = useMay('execute');
  const mayWrite = useMay('write');
  const isOver = hasEnded(status);
  const cancel = useMutation({
    mutationFn: () => post<Execution>(`${pathOf('executions', id)}/cancel`),
    onSuccess: () => client.invalidateQueries({ queryKey: ['executions'] }),
    onError: showError,
  });
  return (
    <>
      <Link to="/playground" search={{ execution: id }} className="button">
        <SquareTerminal size={16} aria-hidden />
        Open in the playground
      </Link>
      {isOver && mayWrite && (
        <>
          <button type="button" className="button" onClick={() => setAsked('dataset')}>
            Add to a dataset…
          </button>
          <button type="button" className="button" onClick={() => setAsked('queue')}>
            <Inbox size={16} aria-hidden />
            Add to a queue…
          </button>
        </>
      )}
      <TemporalLink workflowId={workflow_id} />
      {!isOver && mayExecute && (
        <button type="button" className="button" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </button>
      )}
      {isOver && mayWrite && (
        <button type="button" className="button danger" onClick={() => setAsked('delete')}>
          Delete…
        </button>
      )}
      <FormDialog
        open={asked === 'delete'}
        onClose={close}
        title="Delete this execution?"
        description="This deletes its input and output. Its tokens and cost still count in the usage."
        submitLabel="Delete"
        danger
        onSubmit={async () => {
          await remove(pathOf('executions', id));
          await onDeleted();
          client.removeQueries({ queryKey: ['executions', 'one', id] });
          await client.invalidateQueries({ queryKey: ['executions', 'list'] });
          showToast('The execution was deleted.');
        }}
      />
      {asked === 'queue' && <AddToQueueDialog ids={[id]} onClose={close} />}
      {asked === 'dataset' && (
        <MakeDatasetDialog
          selection={{ execution_ids: [id], status }}
          count={1}
          description="It becomes an example with its variables."
          onClose={close}
        />
      )}
    </>
  );
}
