import { useState } from 'react';
import { get, pathOf } from '../../api.ts';
import type { Execution } from '../../api-types.ts';
import { StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Modal } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/states.tsx';
import { formatAgo, formatCost, plural } from '../../format.ts';
import type { Tried } from './history.ts';

const SHOWN_CHARACTERS = 160;

function previewOf({ pane: { draft }, variables }: Tried): string {
  const text = draft === undefined ? '' : draft.template || draft.messages.map(({ text: each }) => each).join(' ');
  const values = Object.entries(variables).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [text, ...values].filter(Boolean).join(' · ').slice(0, SHOWN_CHARACTERS);
}

/** Earlier attempts, each of which can be restored to a pane. */
export function HistoryDialog({
  tried,
  onBringBack,
  onClose,
}: {
  tried: readonly Tried[];
  onBringBack: (run: Tried, execution: Execution) => void;
  onClose: () => void;
}) {
  const [error, setError] = useState<unknown>();
  const bringBack = async (run: Tried) => {
    try {
      onBringBack(run, await get<Execution>(pathOf('executions', run.id)));
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Modal open onClose={onClose} title="Earlier runs" description="The newest runs of this playground." wide>
      {error !== undefined && <ErrorState error={error} />}
      <ol className="bench-history">
        {tried.map((run) => (
          <li key={run.id}>
            <div>
              <strong>{run.pane.draft ? 'Draft' : run.pane.version || 'latest'}</strong> on {run.model}{' '}
              {run.end && <StatusBadge status={run.end.status} />}{' '}
              <span className="muted">
                {formatAgo(run.at)}
                {run.end && `, ${formatCost(run.end.cost)}`}
                {run.turns.length > 0 && `, after ${plural(run.turns.length, 'message', 'messages')}`}
              </span>
              <p className="bench-preview">{previewOf(run)}</p>
            </div>
            <Button look="small" onClick={() => void bringBack(run)}>
              Bring back
            </Button>
          </li>
        ))}
      </ol>
      <div className="dialog-actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Modal>
  );
}
