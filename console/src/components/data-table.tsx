import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type MouseEvent,
  memo,
  type ReactNode,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from 'react';
import { NONE } from '../format.ts';
import { useRowKeys } from './row-keys.ts';

// Must match controls.css.
const ROW_HEIGHT_PX = 32;
const HEAD_HEIGHT_PX = 32;
/** Roughly: the height of each card is measured. */
const CARD_HEIGHT_PX = 84;

export interface Column<Row> {
  key: string;
  header: string;
  /** Instead of `header`, such as a checkbox for all rows. */
  head?: ReactNode;
  /** How the rows are sorted by this column, if they are. */
  sorted?: 'ascending' | 'descending' | undefined;
  cell: (row: Row) => ReactNode;
  /** A track of a CSS grid, with `rem` meaning the font size of the table. Default: `minmax(6rem, 1fr)`. */
  width?: string;
  /** For numbers. */
  alignEnd?: boolean;
  /**
   * The column in the card that a row is on a phone: as the title (default for the first column), next to the title, on a separate line, or
   * hidden. Default: in the text, after its header.
   */
  onCard?: 'title' | 'beside' | 'line' | 'off';
}

const PHONE = '(max-width: 40rem)';

function onPhoneChange(changed: () => void): () => void {
  const query = window.matchMedia(PHONE);
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
}

const useIsPhone = () => useSyncExternalStore(onPhoneChange, () => window.matchMedia(PHONE).matches);

const PLACES = ['title', 'beside', undefined, 'line'] as const;

/** The columns in the order of a card. */
function asCard<Row>(columns: readonly Column<Row>[]): Column<Row>[] {
  const hasTitle = columns.some(({ onCard }) => onCard === 'title');
  const placed = columns.map((column, index) =>
    index === 0 && !hasTitle ? { ...column, onCard: 'title' as const } : column,
  );
  return PLACES.flatMap((place) => placed.filter(({ onCard }) => onCard === place));
}

/** Columns are as wide as their text needs, so they are measured in its font size. */
const inItsType = (width: string) => width.replaceAll('rem', 'em');

/** The minimum width of the columns, including gaps and padding: anything wider is cut off. */
function leastOf(widths: readonly string[]): string {
  const ems = widths.reduce((sum, width) => sum + Number(/[\d.]+(?=rem)/.exec(width)?.[0] ?? 0), 0);
  return `calc(${ems}em + ${(widths.length + 1) * 0.75}rem)`;
}

/** In print, all columns share the width, with more for text columns. */
function onPaper(width: string): string {
  const [least = 6, share = 1] = [...width.matchAll(/[\d.]+(?=rem|fr)/g)].map(([number]) => Number(number));
  return `minmax(0, ${(least * (1 + share)) / 2}fr)`;
}

const classOf = <Row,>({ alignEnd, onCard }: Column<Row>) =>
  [alignEnd && 'end', onCard && `card-${onCard}`].filter(Boolean).join(' ') || undefined;

/** Shows a text that is cut off on hover, unless an element in the cell does so already. */
function titleCutText({ target }: { target: EventTarget }): void {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[role="cell"], [role="columnheader"]') : null;
  if (cell === null) return;
  if (cell.scrollWidth > cell.clientWidth && cell.querySelector('[title]') === null) cell.title = cell.textContent;
  else cell.removeAttribute('title');
}

interface TableRowProps<Row> {
  row: Row;
  columns: readonly Column<Row>[];
  index: number;
  /** Distance from the top of the body. */
  startPx: number;
  /** Whether this row is shown next to the table. */
  isOpen: boolean;
  /** Whether it is a card. */
  isCard: boolean;
  /** For cards. */
  measure: (element: HTMLElement | null) => void;
}

/** A click outside of links and controls opens the row, unless text is being selected. */
function openRow({ target, currentTarget, ctrlKey, metaKey, shiftKey, button }: MouseEvent<HTMLElement>): void {
  if (button > 1) return;
  if (!(target instanceof Element) || target.closest('a, button, input, select, label') !== null) return;
  if (window.getSelection()?.isCollapsed === false) return;
  const link =
    currentTarget.querySelector<HTMLElement>('a[data-row-link]') ??
    currentTarget.querySelector<HTMLElement>('a, button');
  // With the middle button, it opens in another tab, as a link does.
  const inTab = ctrlKey || button === 1;
  link?.dispatchEvent(
    new window.MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey: inTab, metaKey, shiftKey }),
  );
}

const isEmpty = (content: ReactNode) => content === NONE || content === '' || content == null || content === false;

function TableRowOf<Row>({ row, columns, index, startPx, isOpen, isCard, measure }: TableRowProps<Row>) {
  return (
    // With the keyboard, the link in the row does the same.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      ref={isCard ? measure : undefined}
      data-index={index}
      role="row"
      className="table-row"
      aria-rowindex={index + 2}
      aria-current={isOpen || undefined}
      style={{ transform: `translateY(${startPx}px)` }}
      onClick={openRow}
      onAuxClick={openRow}
    >
      {columns.map((column) => {
        const content = column.cell(row);
        if (isCard && isEmpty(content)) return null;
        return (
          <span
            key={column.key}
            role="cell"
            className={classOf(column)}
            data-label={isCard ? column.header : undefined}
          >
            {content}
          </span>
        );
      })}
    </div>
  );
}

/** Memoized: rows that stay in view while scrolling are not rendered again. */
const TableRow = memo(TableRowOf) as typeof TableRowOf;

/**
 * A table of any length: only the visible rows are rendered. The first column should contain the link to the row's page. On a phone,
 * rows are cards.
 */
export function DataTable<Row>({
  label,
  rows,
  columns: given,
  rowKey,
  onEnd,
  openKey,
  onStep,
  onScrolled,
}: {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  /** Called when the last row becomes visible, and again when it changes: loads more, if there is more. */
  onEnd?: (() => void) | undefined;
  /** The key of the row shown next to the table: `j` and `k` continue from it through `onStep`, without moving the focus. */
  openKey?: string | undefined;
  onStep?: ((row: Row) => void) | undefined;
  /** Called when the table is scrolled away from its top, and back to it. */
  onScrolled?: ((isScrolled: boolean) => void) | undefined;
}) {
  const scroll = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  const columns = useMemo(() => (isPhone ? asCard(given) : given), [isPhone, given]);
  const headHeightPx = isPhone ? 0 : HEAD_HEIGHT_PX;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => (isPhone ? CARD_HEIGHT_PX : ROW_HEIGHT_PX),
    scrollMargin: headHeightPx,
    overscan: 12,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights of rows are not those of cards
  useEffect(() => virtual.measure(), [virtual, isPhone]);
  const open = openKey === undefined ? undefined : rows.findIndex((row) => rowKey(row) === openKey);
  useRowKeys(scroll, rows.length, (index) => virtual.scrollToIndex(index), {
    current: open,
    step: (index) => {
      const row = rows[index];
      if (row !== undefined) onStep?.(row);
    },
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index;
  useEffect(() => {
    if (last !== undefined && last >= rows.length - 1) onEnd?.();
  }, [last, rows.length, onEnd]);
  const widths = columns.map(({ width = 'minmax(6rem, 1fr)' }) => width);
  const layout = {
    '--columns': inItsType(widths.join(' ')),
    // If narrower, the table scrolls horizontally.
    '--min-width': leastOf(widths),
    '--columns-on-paper': widths.map(onPaper).join(' '),
  } as CSSProperties;
  return (
    // A scrolling table must be reachable with the keyboard. A real table would not allow placing rows individually.
    <div
      ref={scroll}
      className={isPhone ? 'table cards' : 'table'}
      style={layout}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      onPointerOver={titleCutText}
      onScroll={onScrolled && (({ currentTarget }) => onScrolled(currentTarget.scrollTop > 0))}
    >
      <div role="rowgroup" className="table-top">
        <div role="row" className="table-row table-head" aria-rowindex={1}>
          {columns.map((column) => (
            <span key={column.key} role="columnheader" aria-sort={column.sorted} className={classOf(column)}>
              {column.head ?? column.header}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="table-body" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <TableRow
              key={item.key}
              row={row}
              columns={columns}
              index={item.index}
              startPx={item.start - headHeightPx}
              isOpen={item.index === open}
              isCard={isPhone}
              measure={virtual.measureElement}
            />
          );
        })}
      </div>
    </div>
  );
}
