import { useEffect, useRef } from 'react';

const STORED_AS = 'review-keys';

/** Whether single keys do something: whoever speaks to the computer may have to turn them off. */
export function keysAreOn(): boolean {
  try {
    return localStorage.getItem(STORED_AS) !== 'off';
  } catch {
    return true;
  }
}

export function setKeysOn(on: boolean): void {
  try {
    if (on) localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, 'off');
  } catch {
    // It holds until the page is left.
  }
}

export interface ReviewActions {
  /** @returns whether the key has been used */
  digit: (key: string) => boolean;
  complete: () => void;
  skip: () => void;
  undo: () => void;
  correct: () => void;
  leaveField: () => void;
}

const TYPED = 'textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox])';
/** They do something of their own by Enter; of radio buttons, it submits the form. */
const BY_ENTER = 'button, a, summary, input';

/** What keys do while an item is reviewed. */
export function useReviewKeys(on: boolean, actions: Partial<ReviewActions>): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.defaultPrevented || event.isComposing || !(target instanceof Element)) return;
      if (document.querySelector('[role=dialog], dialog[open]') !== null) return;
      const { digit, complete, skip, undo, correct, leaveField } = latest.current;
      const used = () => event.preventDefault();
      const isTyped = target.matches(TYPED);
      if (event.ctrlKey || event.metaKey) {
        if (key !== 'Enter' || event.repeat) return;
        used();
        complete?.();
      } else if (isTyped) {
        if (key === 'Escape') leaveField?.();
      } else if (!on || event.altKey || event.repeat) {
        return;
      } else if (/^\d$/.test(key)) {
        if (digit?.(key)) used();
      } else if (key === 'Enter') {
        if (target.matches(BY_ENTER)) return;
        used();
        complete?.();
      } else {
        const action = { s: skip, u: undo, c: correct }[key];
        if (action === undefined) return;
        used();
        action();
      }
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [on]);
}
