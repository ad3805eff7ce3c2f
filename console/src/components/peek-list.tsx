import { type ReactNode, useRef, useState } from 'react';
import { useHits } from './hits.ts';
import './peek.css';

/** A list with its filters above, counts on the left, and one of its records on the right. */
export function PeekList({
  top,
  side,
  panel,
  search,
  children,
}: {
  top: ReactNode;
  side: ReactNode;
  /** The open record; false if none is. */
  panel: ReactNode;
  /** Words that are marked where they occur. */
  search?: string | undefined;
  children: ReactNode;
}) {
  const body = useRef<HTMLDivElement>(null);
  useHits(body, search);
  return (
    <div className="peek-list" data-open={Boolean(panel)}>
      <div className="stack peek-list-top">{top}</div>
      <div ref={body} className="peek-list-body">
        {side}
        <div className="peek-list-main">{children}</div>
        {panel}
      </div>
    </div>
  );
}

/** The neighbours of the open record, as `onStep` of its panel. */
export function stepsAround<Row extends { id: string }>(
  rows: readonly Row[],
  openId: string | undefined,
  open: (id: string) => void,
): { at: number; onStep: Record<'next' | 'before', (() => void) | undefined> } {
  const at = rows.findIndex(({ id }) => id === openId);
  const stepTo = (index: number) => {
    const row = rows[index];
    return row === undefined || at < 0 ? undefined : () => open(row.id);
  };
  return { at, onStep: { next: stepTo(at + 1), before: stepTo(at - 1) } };
}

/** Returns the focus to the row that was shown next to the list. */
export function focusRow(index: number): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      document
        .querySelector<HTMLElement>(`.peek-list [aria-rowindex="${index + 2}"] a[data-row-link]`)
        ?.focus({ preventScroll: true }),
    ),
  );
}

/** State that belongs to a list: another filter resets it. */
export function useStateOf<Value>(list: string, first: Value): [Value, (value: Value) => void] {
  const [kept, keep] = useState({ list, value: first });
  return [kept.list === list ? kept.value : first, (value) => keep({ list, value })];
}
