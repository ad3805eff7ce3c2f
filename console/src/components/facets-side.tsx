import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, type Query } from '../api.ts';
import { formatNumber } from '../format.ts';
import { Button } from './button.tsx';
import { type FilterSpecs, filterWords } from './filter-spec.ts';
import { ErrorState } from './states.tsx';
import './peek.css';

const REFETCH_MS = 30_000;
/** Number of values of a facet that are initially shown. */
const FEW = 6;
/** A narrower page has no room for counts next to its list. */
const ROOM_PX = 1_200;

type Values = readonly { value: string; count: number }[];

/** Counts by facet, as the API returns them. */
interface Facets<Facet extends string> {
  facets: Record<Facet, Values>;
  counted: number;
  complete: boolean;
}

/** Records counted by facet. While new counts load, the previous ones stay, so that nothing jumps. */
export const facetsQuery = <Counts extends Facets<string>>(list: string, query: Query) =>
  queryOptions({
    queryKey: [list, 'facets', query],
    queryFn: ({ signal }) => get<Counts>(`/${list}/facets`, query, signal),
    refetchInterval: REFETCH_MS,
    placeholderData: keepPreviousData,
  });

/** Counts of the matching records by facet. Clicking a value filters the list by it, clicking again removes the filter. */
export function FacetsSide<Facet extends string>({
  list,
  query,
  facets,
  specs,
  chosen,
  onChoose,
}: {
  /** The path of the list. */
  list: string;
  query: Query;
  /** Those to show, in order. */
  facets: readonly Facet[];
  specs: FilterSpecs<Facet>;
  /** The values of the filters. */
  chosen: Readonly<Partial<Record<Facet, string | number | undefined>>>;
  onChoose: (facet: Facet, value: string | undefined) => void;
}) {
  const [isOpen, setOpen] = useState(() => window.innerWidth >= ROOM_PX);
  const { data, error } = useQuery({ ...facetsQuery<Facets<Facet>>(list, query), enabled: isOpen });
  // Nothing is counted, and no filter can be removed.
  if (data?.counted === 0 && facets.every((facet) => chosen[facet] === undefined)) return null;
  return (
    <details className="facets" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Counts{' '}
        {data && (
          <span className="muted">
            {formatNumber(data.counted)}
            {data.complete ? '' : ' newest'}
          </span>
        )}
      </summary>
      {error && <ErrorState error={error} />}
      {data && (
        <div className="facets-list">
          {facets.map((facet) => {
            const values = data.facets[facet];
            const own = chosen[facet] === undefined ? undefined : String(chosen[facet]);
            if (values.length === 0 && own === undefined) return null;
            return (
              <FacetValues
                key={facet}
                label={specs[facet].label}
                words={(value) => filterWords(specs[facet], value)}
                values={values}
                chosen={own}
                total={data.counted}
                onChoose={(value) => onChoose(facet, value)}
              />
            );
          })}
          {!data.complete && (
            <p className="field-hint">
              These are the newest {formatNumber(data.counted)}. Choose days to count others.
            </p>
          )}
        </div>
      )}
    </details>
  );
}

function FacetValues({
  label,
  words,
  values,
  chosen,
  total,
  onChoose,
}: {
  label: string;
  words: (value: string) => string;
  values: Values;
  chosen: string | undefined;
  total: number;
  onChoose: (value: string | undefined) => void;
}) {
  const [all, setAll] = useState(false);
  // A selected value can be removed even if nothing matches.
  const missing = chosen !== undefined && !values.some(({ value }) => value === chosen);
  const offered = missing ? [{ value: chosen, count: 0 }, ...values] : values;
  const shown = all ? offered : offered.slice(0, FEW);
  return (
    <section aria-label={label}>
      <h2>{label}</h2>
      <ul>
        {shown.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              className="facet"
              aria-pressed={value === chosen}
              style={{ '--share': `${total === 0 ? 0 : (count / total) * 100}%` } as object}
              onClick={() => onChoose(value === chosen ? undefined : value)}
            >
              <span className="facet-value">{words(value)}</span>
              <span className="facet-count">{formatNumber(count)}</span>
            </button>
          </li>
        ))}
      </ul>
      {offered.length > FEW && (
        <Button look="plain small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `${offered.length - FEW} more`}
        </Button>
      )}
    </section>
  );
}
