import { SlidersHorizontal, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import './list-filters.css';

/** The filters of a list: the most common ones visible, the others behind a button, and all active ones as chips. */
export function ListFilters<Name extends string>({
  search,
  labels,
  inView,
  words = (_name, value) => value,
  onChange,
  more,
  children,
}: {
  /** The search parameters of the page, with its filters. */
  search: { [Each in Name]?: unknown };
  /** The label of each filter, in the order of the chips. */
  labels: Readonly<Record<Name, string>>;
  /** Filters that are always visible. */
  inView: readonly Name[];
  /** Labels of values that are not words. */
  words?: (name: Name, value: string) => string;
  onChange: (part: { [Each in Name]?: undefined }) => void;
  /** The fields behind the button. */
  more: ReactNode;
  /** The visible fields. */
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const names = Object.keys(labels) as Name[];
  const given = names.filter((name) => search[name] !== undefined);
  const without = (cleared: readonly Name[]) =>
    Object.fromEntries(cleared.map((name) => [name, undefined])) as { [Each in Name]?: undefined };
  return (
    <search className="stack list-filters">
      <div className="filters first">
        {children}
        <Button aria-expanded={isOpen} aria-controls="more-filters" onClick={() => setOpen(!isOpen)}>
          <SlidersHorizontal size={16} aria-hidden />
          {isOpen ? 'Fewer filters' : 'More filters'}
        </Button>
      </div>
      <div id="more-filters" hidden={!isOpen}>
        {isOpen && <div className="filters">{more}</div>}
      </div>
      {given.some((name) => !inView.includes(name)) && (
        <ul className="row chips" aria-label="Filters">
          {given.map((name) => (
            <li key={name}>
              <button
                type="button"
                className="chip"
                aria-label={`Remove the filter ${labels[name]} ${words(name, String(search[name]))}`}
                onClick={() => onChange(without([name]))}
              >
                <span className="muted">{labels[name]}</span> {words(name, String(search[name]))}
                <X size={14} aria-hidden />
              </button>
            </li>
          ))}
          <li>
            <Button look="plain small" onClick={() => onChange(without(names))}>
              Clear all
            </Button>
          </li>
        </ul>
      )}
    </search>
  );
}
