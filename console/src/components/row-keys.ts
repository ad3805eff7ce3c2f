import { type RefObject, useEffect, useRef } from 'react';
import { hasDialog, keysAreOn, TYPED } from '../shell/single-keys.ts';

/** `j` and `k` move the focus from row to row, of the first table of a page. Enter opens a row: its link has the focus. */
export function useRowKeys(
  table: RefObject<HTMLElement | null>,
  count: number,
  scrollTo: (index: number) => void,
): void {
  const latest = useRef({ count, scrollTo });
  useEffect(() => {
    latest.current = { count, scrollTo };
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, defaultPrevented } = event;
      if (defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || (key !== 'j' && key !== 'k')) return;
      if (!(target instanceof Element) || target.matches(TYPED) || hasDialog() || !keysAreOn()) return;
      const place = table.current;
      if (place === null || document.querySelector('main .table') !== place) return;
      const row = document.activeElement?.closest('.table-row');
      const current = row && place.contains(row) ? Number(row.getAttribute('aria-rowindex')) - 2 : undefined;
      const step = key === 'j' ? 1 : -1;
      const next = Math.min(Math.max(current === undefined ? 0 : current + step, 0), latest.current.count - 1);
      if (next < 0) return;
      event.preventDefault();
      latest.current.scrollTo(next);
      // A row that was out of view is in the page once that has been drawn.
      requestAnimationFrame(() =>
        requestAnimationFrame(() =>
          place
            .querySelector<HTMLElement>(`[aria-rowindex="${next + 2}"] :is(a, button)`)
            ?.focus({ preventScroll: true }),
        ),
      );
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [table]);
}
