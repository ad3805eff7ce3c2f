import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import {
  type Draft,
  draftsOf,
  draftsVersion,
  dropDraft,
  isOfThisTab,
  keepDraft,
  markOnPage,
  newDraftId,
  subscribeToDrafts,
} from './drafts.ts';

/** The drafts of a kind of page, newest first. @param subject default: all these pages */
export function useDrafts<Value>(kind: string, subject?: string): Draft<Value>[] {
  const version = useSyncExternalStore(subscribeToDrafts, draftsVersion);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version changes with the drafts
  return useMemo(() => draftsOf<Value>(kind, subject), [kind, subject, version]);
}

/** A draft that a page edits. */
export interface OpenDraft<Value> {
  id: string;
  /** The initial draft; undefined if it is new. */
  restored: Draft<Value> | undefined;
}

/**
 * The draft that a page starts with: the newest matching one of this tab, or a new one.
 * @param fits default: all match
 */
export function useOpenDraft<Value>(kind: string, subject: string, fits: (value: Value) => boolean = () => true) {
  const begin = (): OpenDraft<Value> => {
    const restored = draftsOf<Value>(kind, subject).find((draft) => isOfThisTab(draft) && fits(draft.value));
    return { id: restored?.id ?? newDraftId(), restored };
  };
  const [open, setOpen] = useState(begin);
  useEffect(() => markOnPage(open.id), [open.id]);
  const { id } = open;
  const keep = useCallback((value: Value) => keepDraft({ id, kind, subject, value }), [id, kind, subject]);
  const drop = useCallback(() => dropDraft(id), [id]);
  return {
    open,
    keep,
    drop,
    /** Switches to another draft. */
    take: (draft: Draft<Value>) => setOpen({ id: draft.id, restored: draft }),
    /** Discards it, and starts over. */
    startOver: () => {
      dropDraft(id);
      setOpen({ id: newDraftId(), restored: undefined });
    },
  };
}
