import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { formatNumber } from '../format.ts';
import { Button } from './button.tsx';
import type { Column } from './data-table.tsx';

/** The order of a list: a column name, with a minus for descending order. */
export type Sort<Name extends string> = Name | `-${Name}`;

const ICONS = { ascending: ArrowUp, descending: ArrowDown, none: ChevronsUpDown };

/**
 * The heading of a sortable column. Pressing it again reverses the order.
 * @param first order of the first press: descending for numbers and times
 */
export function sortHead<Name extends string>(
  header: string,
  name: Name,
  { sort, first, onSort }: { sort: string; first: 'ascending' | 'descending'; onSort: (sort: Sort<Name>) => void },
): Pick<Column<never>, 'header' | 'head' | 'sorted'> {
  const sorted = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
  const next = sorted === undefined ? first : sorted === 'ascending' ? 'descending' : 'ascending';
  const Icon = ICONS[sorted ?? 'none'];
  return {
    header,
    sorted,
    head: (
      <button type="button" className="sort-head" onClick={() => onSort(next === 'ascending' ? name : `-${name}`)}>
        {header}
        <Icon size={14} aria-hidden />
      </button>
    ),
  };
}

/** Says by what a list is sorted. */
export function SortNote<Name extends string>({
  count,
  sort,
  words,
  onReset,
}: {
  /** How many of the newest are sorted. */
  count: number;
  sort: Sort<Name>;
  words: Readonly<Record<Name, string>>;
  /** Shows the newest first. */
  onReset: () => void;
}) {
  return (
    <p className="muted row">
      The newest {formatNumber(count)} that match, by {words[sort.replace('-', '') as Name]},{' '}
      {sort.startsWith('-') ? 'greatest' : 'least'} first.
      <Button look="plain small" onClick={onReset}>
        Newest first
      </Button>
    </p>
  );
}
