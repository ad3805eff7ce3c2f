import { useQueryClient } from '@tanstack/react-query';
import { pathOf, remove } from '../api.ts';
import { DialogButton } from './button.tsx';
import { FormDialog } from './dialog.tsx';
import { showToast } from './toast.tsx';

/** The button that deletes something, and its question. */
export function DeleteButton({
  resource,
  id,
  title,
  description,
  done,
  onDeleted,
}: {
  /** The first part of its path, and of the keys of its queries. */
  resource: string;
  id: string;
  title: string;
  description: string;
  /** What is said afterwards. */
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
