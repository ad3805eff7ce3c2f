import { useCallback } from 'react';
import type { Execution } from '../../api-types.ts';
import { draftsOf, keepDraft, newDraftId } from '../../drafts/drafts.ts';
import { useDrafts } from '../../drafts/use-drafts.ts';
import type { ChatMessage, StoredPane } from './pane-state.ts';

const KIND = 'playground-runs';
const MOST_KEPT = 50;
/** Maximum size of the history as JSON: older entries are dropped first. */
const MOST_CHARACTERS = 200_000;

/** A run of this playground. */
export interface Tried {
  /** The execution. */
  id: string;
  /** When it started. */
  at: string;
  pane: StoredPane;
  variables: Record<string, unknown>;
  turns: readonly ChatMessage[];
  model: string;
  /** Undefined if it had not ended when the page last saw it. */
  end: Pick<Execution, 'status' | 'cost'> | undefined;
}

/** The attempts in a playground, newest first, stored in this browser like drafts. */
export function useHistory(subject: string): { tried: readonly Tried[]; add: (run: Tried) => void } {
  const [draft] = useDrafts<Tried[]>(KIND, subject);
  const add = useCallback(
    (run: Tried) => {
      const kept: Tried[] = [];
      let characters = 0;
      for (const each of [run, ...(newest(subject)?.value ?? []).filter(({ id }) => id !== run.id)].slice(
        0,
        MOST_KEPT,
      )) {
        characters += JSON.stringify(each).length;
        if (characters > MOST_CHARACTERS) break;
        kept.push(each);
      }
      keepDraft({ id: newest(subject)?.id ?? newDraftId(), kind: KIND, subject, value: kept });
    },
    [subject],
  );
  return { tried: draft?.value ?? [], add };
}

const newest = (subject: string) => draftsOf<Tried[]>(KIND, subject)[0];
