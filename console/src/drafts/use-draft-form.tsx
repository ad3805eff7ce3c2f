import { type ReactNode, useRef, useState } from 'react';
import { RestoredNotice } from './draft-notices.tsx';
import { useOpenDraft } from './use-drafts.ts';

/** The fields of a form, kept until they are sent or discarded. */
export interface DraftForm<Value> {
  value: Value;
  change: (part: Partial<Value>) => void;
  /** Call after sending: the form starts over. */
  sent: () => void;
  /** A notice that the content is an unsaved draft; empty if it is not. */
  notice: ReactNode;
}

/**
 * @param kind of the form
 * @param subject identifies it, such as the name of a dataset
 * @param start initial values if there is no draft
 */
export function useDraftForm<Value extends object>(kind: string, subject: string, start: Value): DraftForm<Value> {
  const { open, keep, drop, startOver } = useOpenDraft<Value>(kind, subject);
  const [value, setValue] = useState(open.restored?.value ?? start);
  /** The current value, also for closures of earlier renders. */
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
