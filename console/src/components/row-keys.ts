import type { RefObject } from 'react';
import { useStepKeys } from './step-keys.ts';

/**
 * `j` and `k` move the focus between rows of the first table on a page. Enter opens a row because its link has the focus.
 * @param open the row shown next to the table, if any: then they show the next one, and the focus does not move
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
    // A row outside the view exists only after the next frame.
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
