import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../strings.ts';

const manager = Toast.createToastManager();

/** Long enough to read the message and reach the button with the keyboard (F6). */
const UNDO_MS = 12_000;

/** Reports a success. */
export function showToast(title: string, description?: string): void {
  manager.add({ title, ...(description !== undefined && { description }) });
}

/** Reports an error that has no place of its own on the page. */
export function showError(error: unknown): void {
  const description = error instanceof Error ? error.message : String(error);
  manager.add({ title: 'Request failed', description, type: 'error', priority: 'high', timeout: 10_000 });
}

/**
 * Reports a success with an undo button, for reversible actions instead of a confirmation.
 * @param undo sends the requests that reverse it, and reloads what the page shows
 */
export function showUndo(title: string, undo: () => Promise<unknown>, description?: string): void {
  const id = manager.add({
    title,
    ...(description !== undefined && { description }),
    timeout: UNDO_MS,
    actionProps: {
      children: t('Undo'),
      onClick() {
        manager.close(id);
        undo().then(() => showToast('Undone.'), showError);
      },
    },
  });
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast" data-type={toast.type}>
      <Toast.Title className="toast-title" />
      <Toast.Close className="button plain small" aria-label="Close the message">
        <X className="icon" aria-hidden />
      </Toast.Close>
      <Toast.Description className="toast-description" />
      <Toast.Action className="button small toast-action" />
    </Toast.Root>
  ));
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts" aria-label="Notifications">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}
