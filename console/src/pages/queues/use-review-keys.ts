import { useEffect, useRef } from 'react';
import { hasDialog, TYPED } from '../../shell/single-keys.ts';

export interface ReviewActions {
  /** @returns whether the key was used */
  digit: (key: string) => boolean;
  /** A pair: the left or the right output is better, or neither. */
  choose: (which: 'first' | 'tie' | 'second') => void;
  complete: () => void;
  skip: () => void;
  undo: () => void;
  correct: () => void;
  leaveField: () => void;
}

/** Elements with their own Enter behavior; on radio buttons, it submits the form. */
const BY_ENTER = 'button, a, summary, input';

const CHOICES: Partial<Record<string, 'first' | 'tie' | 'second'>> = {
  ArrowLeft: 'first',
  t: 'tie',
  ArrowRight: 'second',
};

/** The keys during a review. */
export function useReviewKeys(on: boolean, actions: Partial<ReviewActions>): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.defaultPrevented || event.isComposing || !(target instanceof Element)) return;
      if (hasDialog()) return;
      const { digit, choose, complete, skip, undo, correct, leaveField } = latest.current;
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
        const which = CHOICES[key];
        if (which !== undefined && choose !== undefined) {
          used();
          return choose(which);
        }
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
