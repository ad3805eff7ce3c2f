import { Dialog } from '@base-ui/react/dialog';
import type { FormEvent, ReactNode } from 'react';
import { ApiError } from '../api.ts';
import { useSessionEnded } from '../session-ended.ts';
import { useSubmit } from '../use-submit.ts';
import { Button } from './button.tsx';
import { FieldErrors } from './fields.tsx';
import { ErrorState } from './states.tsx';

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

/** A modal dialog; Escape closes it, and the focus returns to where it was. */
export function Modal({ open, onClose, title, description, wide = false, children }: DialogProps) {
  // The sign-in dialog then lies above it, and clicks into that do not count as outside clicks.
  const isCovered = useSessionEnded();
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && !isCovered && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={wide ? 'dialog wide' : 'dialog'}>
          <Dialog.Title className="dialog-title">{title}</Dialog.Title>
          {description && <Dialog.Description className="muted">{description}</Dialog.Description>}
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** A dialog with a form or just a question. Ctrl+Enter submits it. It closes when `onSubmit` is done, unless that returns `false`, and shows any error. */
export function FormDialog({
  submitLabel,
  danger = false,
  canSubmit = true,
  onSubmit,
  onClose,
  children,
  ...dialog
}: Omit<DialogProps, 'children'> & {
  children?: ReactNode;
  submitLabel: string;
  danger?: boolean;
  canSubmit?: boolean;
  onSubmit: () => Promise<unknown>;
}) {
  const { busy, error, submit, forget } = useSubmit();
  const details = error instanceof ApiError ? error.details : [];
  const close = () => {
    forget();
    onClose();
  };
  const onFormSubmit = (event: FormEvent) => {
    event.preventDefault();
    // Portals propagate events to their React parent, which may be another form.
    event.stopPropagation();
    if (!canSubmit) return;
    void submit(async () => {
      if ((await onSubmit()) !== false) close();
    });
  };
  return (
    <Modal {...dialog} onClose={close}>
      <form
        onSubmit={onFormSubmit}
        // In a text of several lines, Enter alone starts a new one.
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }}
      >
        <FieldErrors value={new Map(details.map(({ path, message }) => [path, message]))}>{children}</FieldErrors>
        {error !== undefined && <ErrorState error={error} />}
        <div className="dialog-actions">
          <Button onClick={close}>Cancel</Button>
          <button type="submit" className={danger ? 'button danger' : 'button primary'} disabled={busy || !canSubmit}>
            {submitLabel}
          </button>
        </div>
      </form>
    </Modal>
  );
}
