import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';

const manager = Toast.createToastManager();

/** Says what was done. */
export function showToast(title: string, description?: string): void {
  manager.add({ title, ...(description !== undefined && { description }) });
}

/** Says what could not be done; for what has no place of its own on the page. */
export function showError(error: unknown): void {
  const description = error instanceof Error ? error.message : String(error);
  manager.add({ title: 'Request failed', description, type: 'error', priority: 'high', timeout: 10_000 });
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast" data-type={toast.type}>
      <Toast.Title className="toast-title" />
      <Toast.Close className="button plain small" aria-label="Close the message">
        ✕
      </Toast.Close>
      <Toast.Description className="toast-description" />
    </Toast.Root>
  ));
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}
