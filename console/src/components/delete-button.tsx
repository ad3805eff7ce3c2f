import { useQueryClient } from '@tanstack/react-query';
import { pathOf, remove } from '../api.ts';
import { DialogButton } from './button.tsx';
import { FormDialog } from './dialog.tsx';
import { showToast } from './toast.tsx';

interface Deletion {
  /** The first segment of its path and of its query keys. */
  resource: string;
  id: string;
  title: string;
  description: string;
  /** The message after the deletion. */
  done: string;
  /** Leaves its page. */
  onDeleted: () => unknown;
}

/** Deletes something after a confirmation. */
export function DeleteDialog({
  resource,
  id,
  title,
  description,
  done,
  onDeleted,
  onClose,
}: Deletion & { onClose: () => void }) {
  const client = useQueryClient();
  const submit = async () => {
    await remove(pathOf(resource, id));
    await onDeleted();
    client.removeQueries({ queryKey: [resource, 'one', id] });
    await client.invalidateQueries({ queryKey: [resource] });
    showToast(done);
  };
  return <FormDialog open danger submitLabel="Delete" {...{ title, description, onClose }} onSubmit={submit} />;
}

/** The button of that dialog. */
export function DeleteButton(deletion: Deletion) {
  return (
    <DialogButton label="Delete…" look="danger" dialog={(close) => <DeleteDialog {...deletion} onClose={close} />} />
  );
}
