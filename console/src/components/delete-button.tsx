import { useQueryClient } from '@tanstack/react-query';
import { pathOf, remove } from '../api.ts';
import { DialogButton } from './button.tsx';
import { FormDialog } from './dialog.tsx';
import { showToast } from './toast.tsx';

/** A button that deletes something after a confirmation. */
export function DeleteButton({
  resource,
  id,
  title,
  description,
  done,
  onDeleted,
}: {
  /** The first segment of its path and of its query keys. */
  resource: string;
  id: string;
  title: string;
  description: string;
  /** The message after the deletion. */
  done: string;
  /** Leaves its page. */
  onDeleted: () => unknown;
}) {
  const client = useQueryClient();
  const submit = async () => {
    await remove(pathOf(resource, id));
    await onDeleted();
    client.removeQueries({ queryKey: [resource, 'one', id] });
    await client.invalidateQueries({ queryKey: [resource] });
    showToast(done);
  };
  return (
    <DialogButton
      label="Delete…"
      look="danger"
      dialog={(close) => (
        <FormDialog open danger submitLabel="Delete" {...{ title, description }} onClose={close} onSubmit={submit} />
      )}
    />
  );
}
