import { useReducer } from 'react';
import { Button } from '../components/button.tsx';
import { formatAgo } from '../format.ts';
import { adoptDraft, type Draft, dropDraft, isOfThisTab } from './drafts.ts';

/** Tells the user that the content is an unsaved draft. */
export function RestoredNotice({ draft, onDiscard }: { draft: Draft; onDiscard: () => void }) {
  const [isClosed, close] = useReducer(() => true, false);
  if (isClosed) return null;
  return (
    <div className="notice" role="status">
      <span>Your unsaved changes from {formatAgo(new Date(draft.at).toISOString())} were restored.</span>
      <Button look="small" onClick={close}>
        Keep
      </Button>
      <Button look="small" onClick={onDiscard}>
        Discard
      </Button>
    </div>
  );
}

/** Offers unsaved drafts from elsewhere. */
export function OtherDrafts<Value>({
  drafts,
  nameOf,
  onTake,
}: {
  drafts: readonly Draft<Value>[];
  /** Completes "Unsaved changes to …". */
  nameOf: (draft: Draft<Value>) => string;
  onTake: (draft: Draft<Value>) => void;
}) {
  if (drafts.length === 0) return null;
  return (
    <ul className="stack" aria-label="Other unsaved changes">
      {drafts.map((draft) => {
        const name = `${nameOf(draft)}, ${formatAgo(new Date(draft.at).toISOString())}`;
        return (
          <li key={draft.id} className="notice">
            <span>
              Unsaved changes to {name}
              {!isOfThisTab(draft) && ', in another tab'}.
            </span>
            <Button look="small" onClick={() => onTake(isOfThisTab(draft) ? draft : adoptDraft(draft))}>
              Use them<span className="visually-hidden">: {name}</span>
            </Button>
            <Button look="small" onClick={() => dropDraft(draft.id)}>
              Discard<span className="visually-hidden">: {name}</span>
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
