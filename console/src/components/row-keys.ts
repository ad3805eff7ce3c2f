import type { RefObject } from 'react';
import { useStepKeys } from './step-keys.ts';

/**
 * `j` and `k` move the focus from row to row, of the first table of a page. Enter opens a row: its link has the focus.
 * @param open the row that is shown beside the table, if one is: then they show the next one, and the focus stays where it is
 */
export function useRowKeys(
  table: RefObject<HTMLElement | null>,
  count: number,
  scrollTo: (index: number) => void,
  open: { current: number | undefined; step: (index: number) => void },
): void {
  useStepKeys((by) => {
    const place = table.current;
    if (place === null || count === 0 || document.querySelector('main .table') !== place) return false;
    if (open.current !== undefined) {
      const next = open.current + by;
      if (next < 0 || next >= count) return true;
      scrollTo(next);
      open.step(next);
      return true;
    }
    const row = document.activeElement?.closest('.table-row');
    const current = row && place.contains(row) ? Number(row.getAttribute('aria-rowindex')) - 2 : undefined;
    const next = Math.min(Math.max(current === undefined ? 0 : current + by, 0), count - 1);
    scrollTo(next);
    // A row that was out of view is in the page once that has been drawn.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        place
          .querySelector<HTMLElement>(`[aria-rowindex="${next + 2}"] :is(a, button)`)
          ?.focus({ preventScroll: true }),
      ),
    );
    return true;
  });
}
