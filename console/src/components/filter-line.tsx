import { lazy, Suspense } from 'react';
import type { Query } from '../api.ts';
import type { FilterSpecs } from './filter-spec.ts';
import './filter-line.css';

/** Loaded on its own: the list does not wait for it. */
const FilterInput = lazy(async () => ({ default: (await import('./filter-input.tsx')).FilterInput }));

export interface FilterLineProps<Name extends string> {
  placeholder: string;
  /** The path of the list, whose facets are suggested as values. */
  list: string;
  /** The list's query. */
  query: Query;
  specs: FilterSpecs<Name>;
  /** The search parameters of the page. */
  search: { q?: string | undefined } & { [Each in NoInfer<Name>]?: unknown };
  /** The error of the list. */
  error: unknown;
  onChange: (part: Record<string, string | undefined>) => void;
}

/**
 * The search and the filters of a list in one line, such as `refund status:failed cost>0.01`. Filters become chips with Enter or on
 * leaving the field; words are searched for when typing pauses.
 */
export function FilterLine<Name extends string>(props: FilterLineProps<Name>) {
  return (
    <search className="filter-line">
      <Suspense fallback={<div className="filter-box" />}>
        <FilterInput {...(props as unknown as FilterLineProps<string>)} />
      </Suspense>
    </search>
  );
}
