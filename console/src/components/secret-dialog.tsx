import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Modal } from './dialog.tsx';

/** Shows a secret, which is visible only once. */
export function SecretDialog({
  title,
  secret,
  what,
  onClose,
}: {
  title: string;
  secret: string;
  /** Describes it on the copy button for screen readers. */
  what: string;
  onClose: () => void;
}) {
  return (
    <Modal open onClose={onClose} title={title} description="Copy it now: it is not shown again.">
      <pre className="code" data-testid="secret">
        {secret}
      </pre>
      <div className="dialog-actions">
        <CopyButton text={secret} what={what} />
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      </div>
    </Modal>
  );
}
