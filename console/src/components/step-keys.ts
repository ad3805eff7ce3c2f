import { useEffect, useRef } from 'react';
import { hasDialog, keysAreOn, TYPED } from '../shell/single-keys.ts';

/**
 * `j` and `k` step forward and back, unless something is typed, a dialog is open, or single keys are turned off.
 * @param step 1 or -1; @returns false if there is nothing to step through
 */
export function useStepKeys(step: (by: 1 | -1) => boolean): void {
  const latest = useRef(step);
  useEffect(() => {
    latest.current = step;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, defaultPrevented } = event;
      if (defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || (key !== 'j' && key !== 'k')) return;
      if ((target instanceof Element && target.matches(TYPED)) || hasDialog() || !keysAreOn()) return;
      if (latest.current(key === 'j' ? 1 : -1)) event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}
