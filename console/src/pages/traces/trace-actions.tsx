import { Link } from '@tanstack/react-router';
import { lazy } from 'react';
import type { Trace } from '../../api-types.ts';
import { DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { useMay } from '../../shell/session.ts';
import { TryVersionLink } from '../executions/try-version-link.tsx';

/** Loaded when opened. */
const AddToQueueDialog = lazy(async () => ({
  default: (await import('../executions/add-to-queue-dialog.tsx')).AddToQueueDialog,
}));

/** The actions for a trace. */
export function TraceActions({
  trace: { id, conversation_id, prompts, calls },
  onDeleted,
}: {
  trace: Trace;
  onDeleted: () => unknown;
}) {
  const mayWrite = useMay('write');
  const mayExecute = useMay('execute');
  return (
    <>
      {mayExecute && calls > 0 && (
        <TryVersionLink prompt={prompts.length === 1 ? prompts[0]?.name : undefined} executions={{ trace_id: id }}>
          Try another version on its calls
        </TryVersionLink>
      )}
      {conversation_id !== null && (
        <Link to="/conversations/$" params={{ _splat: conversation_id }} className="button">
          Conversation
        </Link>
      )}
      {mayWrite && (
        <DialogButton
          label="Add to a queue…"
          dialog={(close) => <AddToQueueDialog ids={[id]} of="traces" onClose={close} />}
        />
      )}
      {mayWrite && (
        <DeleteButton
          resource="traces"
          id={id}
          title="Delete this trace?"
          description="This deletes its steps and the executions recorded from them. Their tokens and cost still count in the usage."
          done="The trace was deleted."
          onDeleted={onDeleted}
        />
      )}
    </>
  );
}
