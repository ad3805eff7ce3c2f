import type { Prompt } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { Modal } from '../../components/dialog.tsx';
import { DiffView } from '../../components/diff-view.tsx';
import { formatAgo } from '../../format.ts';
import { textOf } from './content.ts';

/** Tells the user that someone else has saved in the meantime, what changed, and the options. */
export function NewerVersionDialog({
  base,
  newer,
  onClose,
  onTake,
  onSaveAnyway,
  canSave,
}: {
  base: Prompt;
  /** Undefined if the dialog is closed. */
  newer: Prompt | undefined;
  onClose: () => void;
  /** Undefined if this is not possible here. */
  onTake?: (newer: Prompt) => void;
  onSaveAnyway: (version: number) => void;
  canSave: boolean;
}) {
  if (newer === undefined) return null;
  return (
    <Modal
      open
      wide
      onClose={onClose}
      title={`There is a newer version: ${newer.version}`}
      description={
        <>
          It was saved {formatAgo(newer.version_created_at)} while you edited version {base.version}
          {newer.commit_message && <>: “{newer.commit_message}”</>}. Saving yours now makes version {newer.version + 1}{' '}
          without these changes:
        </>
      }
    >
      <DiffView
        before={{ title: `Version ${base.version}`, text: textOf(base) }}
        after={{ title: `Version ${newer.version}`, text: textOf(newer) }}
      />
      <div className="dialog-actions">
        <Button onClick={onClose}>Keep editing</Button>
        {onTake && (
          <Button look="danger" onClick={() => onTake(newer)}>
            Discard my changes, use version {newer.version}
          </Button>
        )}
        {canSave && (
          <Button look="primary" onClick={() => onSaveAnyway(newer.version)}>
            Save mine as version {newer.version + 1}
          </Button>
        )}
      </div>
    </Modal>
  );
}
