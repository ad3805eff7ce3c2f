import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Inbox, SquareTerminal } from 'lucide-react';
import { lazy } from 'react';
import { pathOf, post } from '../../api.ts';
import type { Execution } from '../../api-types.ts';
import { Button, DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { TemporalLink } from '../../components/temporal-link.tsx';
import { showError } from '../../components/toast.tsx';
import { hasEnded } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { MakeDatasetDialog } from './make-dataset-dialog.tsx';
import { TryVersionLink } from './try-version-link.tsx';

/** Loaded when opened. */
const AddToQueueDialog = lazy(async () => ({ default: (await import('./add-to-queue-dialog.tsx')).AddToQueueDialog }));

/** The actions for an execution. */
export function ExecutionActions({ execution, onDeleted }: { execution: Execution; onDeleted: () => unknown }) {
  const { id, status, workflow_id } = execution;
  const client = useQueryClient();
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
      {status === 'completed' && mayExecute && (
        <TryVersionLink prompt={execution.prompt_name ?? undefined} executions={{ execution_ids: [id] }}>
          Try another version
        </TryVersionLink>
      )}
      {isOver && mayWrite && (
        <>
          <DialogButton
            label="Add to a dataset…"
            dialog={(close) => (
              <MakeDatasetDialog
                selection={{ execution_ids: [id], status }}
                count={1}
                description="It becomes an example with its variables."
                onClose={close}
              />
            )}
          />
          <DialogButton
            label={
              <>
                <Inbox size={16} aria-hidden />
                Add to a queue…
              </>
            }
            dialog={(close) => <AddToQueueDialog ids={[id]} onClose={close} />}
          />
        </>
      )}
      <TemporalLink workflowId={workflow_id} />
      {!isOver && mayExecute && (
        <Button disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
      {isOver && mayWrite && (
        <DeleteButton
          resource="executions"
          id={id}
          title="Delete this execution?"
          description="This deletes its input and output. Its tokens and cost still count in the usage."
          done="The execution was deleted."
          onDeleted={onDeleted}
        />
      )}
    </>
  );
}
