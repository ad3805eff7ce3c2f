import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { Column } from './data-table.tsx';

/** What a list is sorted by: the name of a column, with a minus before it where the greatest comes first. */
export type Sort<Name extends string> = Name | `-${Name}`;

const ICONS = { ascending: ArrowUp, descending: ArrowDown, none: ChevronsUpDown };

/**
 * The heading of a column that the list can be sorted by. A second press turns the order round.
 * @param first how the first press sorts: numbers and times begin with the greatest
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
