import { Autocomplete } from '@base-ui/react/autocomplete';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { ApiError } from '../api.ts';
import { t } from '../strings.ts';
import { Button } from './button.tsx';
import { facetsQuery } from './facets-side.tsx';
import type { FilterLineProps } from './filter-line.tsx';
import { type FilterSpecs, filterWords } from './filter-spec.ts';
import { type Completion, completionsOf, filterAtEnd, parseLine, showTerm, showText, specsOf } from './filter-terms.ts';
import './filter-input.css';

const TYPING_MS = 300;

/** What the API says against filters of the list. */
function refusalsOf<Name extends string>(error: unknown, specs: FilterSpecs<Name>): string[] {
  if (!(error instanceof ApiError)) return [];
  const words = new Map<string, string>(specsOf(specs).map(([name, { word }]) => [name, word]));
  return error.details.flatMap(({ path, message }) => {
    const name = path.split('.')[0] ?? '';
    return name === 'q' || words.has(name) ? `${words.get(name) ?? t('the search')}: ${message}` : [];
  });
}

/** The content of a `FilterLine`. */
export function FilterInput<Name extends string>({
  placeholder,
  list,
  query,
  specs,
  search,
  error,
  onChange,
}: FilterLineProps<Name>) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const q = showText(search.q ?? '', specs);
  const [typed, setTyped] = useState(q);
  const [passedOn, setPassedOn] = useState(q);
  const [isOpen, setOpen] = useState(false);
  const [errors, setErrors] = useState<readonly string[]>([]);
  const highlighted = useRef<Completion>(undefined);
  const parsed = parseLine(typed, specs);
  // Back and forward change the address, too. While typing, the field is not overwritten by an older value from the address.
  if (q !== passedOn) {
    setPassedOn(q);
    if (parsed.text === passedOn) setTyped(q);
  }
  useEffect(() => {
    if (parsed.text === q) return;
    const timer = setTimeout(() => onChange({ q: parsed.text === '' ? undefined : parsed.text }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [parsed.text, q, onChange]);

  const wanted = isOpen ? filterAtEnd(typed, specs) : undefined;
  const { data } = useQuery({
    ...facetsQuery<{ facets: Record<string, { value: string; count: number }[]>; counted: number; complete: boolean }>(
      list,
      query,
    ),
    enabled: wanted !== undefined,
  });
  const options = completionsOf(typed, specs, (name) => data?.facets[name] ?? []);
  const given = specsOf(specs).filter(([name]) => search[name] !== undefined);

  /** Applies a line, unless something is wrong in it. */
  const apply = (line: string) => {
    const { filters, text, errors } = parseLine(line, specs);
    setErrors(errors);
    setOpen(false);
    if (errors.length > 0) return setTyped(line);
    setTyped(text);
    if (Object.keys(filters).length === 0 && text === q) return;
    onChange({ ...filters, q: text === '' ? undefined : text });
  };
  const change = (line: string) => {
    setErrors([]);
    if (options.some((option) => option.isWhole && option.line === line)) return apply(line);
    setTyped(line);
    setOpen(true);
  };
  const remove = (names: readonly Name[]) => {
    onChange(Object.fromEntries(names.map((name) => [name, undefined])));
    input.current?.focus();
  };
  /** Makes the last chip text again. */
  const editLast = () => {
    const [name, spec] = given.at(-1) ?? [];
    if (name === undefined || spec === undefined) return;
    setTyped(showTerm(spec, String(search[name])) ?? '');
    remove([name]);
  };
  const wrong = [...errors, ...(errors.length > 0 ? [] : refusalsOf(error, specs))];
  return (
    <>
      <div className="filter-box">
        {given.length > 0 && (
          <ul className="chips" aria-label="Filters">
            {given.map(([name, spec]) => {
              const value = `${spec.operator === undefined ? '' : `${spec.operator === '>=' ? '≥' : '≤'} `}${filterWords(spec, String(search[name]))}`;
              return (
                <li key={name}>
                  <button
                    type="button"
                    className="chip"
                    aria-label={`Remove the filter ${spec.label} ${value}`}
                    onClick={() => remove([name])}
                  >
                    <span className="muted">{spec.label}</span> {value}
                    <X size={14} aria-hidden />
                  </button>
                </li>
              );
            })}
          </ul>
        )}
        <Autocomplete.Root<Completion>
          items={options}
          filter={null}
          itemToStringValue={({ line }) => line}
          value={typed}
          onValueChange={change}
          open={isOpen && options.length > 0}
          onOpenChange={(next, { reason }) => {
            // After a filter is chosen, its values are offered.
            if (reason !== 'item-press') setOpen(next);
          }}
          onItemHighlighted={(option) => {
            highlighted.current = option;
          }}
          openOnInputClick
        >
          <Autocomplete.Input
            ref={input}
            aria-label="Search and filters"
            aria-invalid={wrong.length > 0}
            aria-describedby={wrong.length > 0 ? `${id}-error` : undefined}
            placeholder={given.length === 0 ? placeholder : undefined}
            spellCheck={false}
            autoComplete="off"
            enterKeyHint="search"
            onBlur={() => apply(typed)}
            onKeyDown={(event) => {
              if (event.key === 'Backspace' && typed === '' && given.length > 0) {
                event.preventDefault();
                editLast();
              } else if (event.key === 'Enter' && highlighted.current === undefined) {
                event.preventDefault();
                event.preventBaseUIHandler();
                apply(typed);
              } else if (event.key === 'Escape' && !(isOpen && options.length > 0)) {
                // With a list, Escape closes it; the library would clear the field.
                event.preventBaseUIHandler();
              }
            }}
          />
          <Autocomplete.Portal>
            <Autocomplete.Positioner className="menu-positioner options-positioner" sideOffset={6} align="start">
              <Autocomplete.Popup className="menu options">
                <Autocomplete.List>
                  {(option: Completion) => (
                    <Autocomplete.Item key={option.line} value={option} className="menu-item">
                      <span translate="no">{option.shown}</span>
                      <span className="muted">{option.detail}</span>
                    </Autocomplete.Item>
                  )}
                </Autocomplete.List>
              </Autocomplete.Popup>
            </Autocomplete.Positioner>
          </Autocomplete.Portal>
        </Autocomplete.Root>
        {(given.length > 0 || search.q !== undefined) && (
          <Button
            look="plain small"
            onClick={() => {
              setTyped('');
              setErrors([]);
              onChange({
                ...Object.fromEntries(given.map(([name]) => [name, undefined])),
                q: undefined,
              });
              input.current?.focus();
            }}
          >
            Clear all
          </Button>
        )}
      </div>
      {wrong.length > 0 && (
        <p id={`${id}-error`} className="field-error" role="alert">
          {wrong.join('; ')}
        </p>
      )}
    </>
  );
}
