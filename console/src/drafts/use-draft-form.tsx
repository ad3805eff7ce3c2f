import { type ReactNode, useRef, useState } from 'react';
import { RestoredNotice } from './draft-notices.tsx';
import { useOpenDraft } from './use-drafts.ts';

/** The fields of a form, which are kept until they are sent or thrown away. */
export interface DraftForm<Value> {
  value: Value;
  change: (part: Partial<Value>) => void;
  /** To be called when it was sent: the form begins anew. */
  sent: () => void;
  /** Says that what is shown was typed before; nothing where it was not. */
  notice: ReactNode;
}

/**
 * @param kind what form it is
 * @param subject which of these, such as the name of a dataset
 * @param start what it begins with, where nothing is kept
 */
export function useDraftForm<Value extends object>(kind: string, subject: string, start: Value): DraftForm<Value> {
  const { open, keep, drop, startOver } = useOpenDraft<Value>(kind, subject);
  const [value, setValue] = useState(open.restored?.value ?? start);
  /** As it is, also for what began with an earlier state. */
  const current = useRef(value);
  const set = (next: Value) => {
    current.current = next;
    setValue(next);
  };
  return {
    value,
    change(part) {
      set({ ...current.current, ...part });
      keep(current.current);
    },
    sent() {
      drop();
      set(start);
    },
    notice: open.restored && (
      <RestoredNotice
        draft={open.restored}
        onDiscard={() => {
          startOver();
          set(start);
        }}
      />
    ),
  };
}
