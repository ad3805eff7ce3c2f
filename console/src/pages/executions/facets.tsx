import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Query } from '../../api.ts';
import type { ExecutionFacets } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState } from '../../components/states.tsx';
import { formatNumber } from '../../format.ts';
import { facetsQuery } from './facets-query.ts';
import { type ExecutionsSearch, FILTER_LABELS, valueWords } from './filter.ts';

/** Number of values of a facet that are initially shown. */
const FEW = 6;
/** A narrower page has no room for counts next to its list. */
const ROOM_PX = 1_200;

type Facet = keyof ExecutionFacets['facets'];
const FACETS: readonly Facet[] = [
  'status',
  'prompt_name',
  'prompt_version',
  'label',
  'model',
  'error_code',
  'recorded',
];

/** Counts of matching executions by facet. Clicking a value filters the list by it, clicking again removes the filter. */
export function FacetsSide({
  query,
  search,
  onChange,
}: {
  query: Query;
  search: ExecutionsSearch;
  onChange: (part: Partial<ExecutionsSearch>) => void;
}) {
  const [isOpen, setOpen] = useState(() => window.innerWidth >= ROOM_PX);
  const { data, error } = useQuery({ ...facetsQuery(query), enabled: isOpen });
  // Nothing is counted, and no filter can be removed.
  if (data?.counted === 0 && FACETS.every((facet) => search[facet] === undefined)) return null;
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
          {FACETS.map((facet) => {
            const values = data.facets[facet];
            const chosen = search[facet] === undefined ? undefined : String(search[facet]);
            // Versions of different prompts are unrelated.
            if (facet === 'prompt_version' && search.prompt_name === undefined) return null;
            if (values.length === 0 && chosen === undefined) return null;
            return (
              <FacetValues
                key={facet}
                facet={facet}
                values={values}
                chosen={chosen}
                total={data.counted}
                onChoose={(value) =>
                  onChange({
                    [facet]: facet === 'prompt_version' && value !== undefined ? Number(value) : value,
                    ...(facet === 'prompt_name' && { prompt_version: undefined }),
                  })
                }
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
  facet,
  values,
  chosen,
  total,
  onChoose,
}: {
  facet: Facet;
  values: ExecutionFacets['facets'][Facet];
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
    <section aria-label={FILTER_LABELS[facet]}>
      <h2>{FILTER_LABELS[facet]}</h2>
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
              <span className="facet-value">{valueWords(facet, value)}</span>
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
