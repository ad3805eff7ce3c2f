import { Autocomplete } from '@base-ui/react/autocomplete';
import { type ComponentProps, useRef, useState } from 'react';
import { Field } from './fields.tsx';

/** A suggested value. */
export interface Option {
  value: string;
  /** Helps to choose, such as a price. */
  detail?: string;
}

export interface OptionGroup {
  value: string;
  items: readonly Option[];
}

/** Maximum number of suggestions; typing narrows them down. */
const MOST_SHOWN = 200;

const toOption = (option: string | Option): Option => (typeof option === 'string' ? { value: option } : option);

function Item({ option: { value, detail } }: { option: Option }) {
  return (
    <>
      <span>{value}</span>
      {detail !== undefined && <span className="muted">{detail}</span>}
    </>
  );
}

/** A text field that suggests values while typing, and accepts others. */
export function ComboField({
  label,
  hint,
  error,
  path,
  warning,
  value,
  onChange,
  options = [],
  groups,
  ...rest
}: Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'id' | 'children'> &
  Pick<ComponentProps<typeof Field>, 'label' | 'hint' | 'error' | 'path' | 'warning'> & {
    value: string;
    onChange: (value: string) => void;
    options?: readonly (string | Option)[];
    /** Instead of `options`, if they belong to groups. */
    groups?: readonly OptionGroup[];
  }) {
  const [isWanted, setWanted] = useState(false);
  // Until something is typed, all values are suggested, not just the matches of the current one.
  const [isTyped, setTyped] = useState(false);
  /** Its value on focus. */
  const before = useRef(value);
  const offered = groups?.flatMap(({ items }) => [...items]) ?? options.map(toOption);
  const fits = (option: Option) => option.value.toLowerCase().includes(value.toLowerCase());
  const isComplete = offered.some((option) => option.value === value);
  const item = (option: Option) => (
    <Autocomplete.Item key={option.value} value={option} className="menu-item">
      <Item option={option} />
    </Autocomplete.Item>
  );
  const list = (
    <Autocomplete.Portal>
      <Autocomplete.Positioner className="menu-positioner options-positioner" sideOffset={4} align="start">
        <Autocomplete.Popup className="menu options">
          <Autocomplete.List>
            {groups === undefined
              ? item
              : (group: OptionGroup) => (
                  <Autocomplete.Group key={group.value} items={group.items}>
                    <Autocomplete.GroupLabel className="menu-label">{group.value}</Autocomplete.GroupLabel>
                    <Autocomplete.Collection>{item}</Autocomplete.Collection>
                  </Autocomplete.Group>
                )}
          </Autocomplete.List>
        </Autocomplete.Popup>
      </Autocomplete.Positioner>
    </Autocomplete.Portal>
  );
  const state = {
    itemToStringValue: (option: Option) => option.value,
    value,
    onValueChange(next: string) {
      setTyped(true);
      onChange(next);
    },
    // The list stays closed if it has nothing to suggest or the value is complete.
    open: isWanted && (isTyped ? !isComplete && offered.some(fits) : offered.length > 0),
    onOpenChange(next: boolean, { reason }: { reason: string }) {
      setWanted(next);
      if (next && reason !== 'input-change') setTyped(false);
    },
    ...(!isTyped && { filter: null }),
    limit: MOST_SHOWN,
    openOnInputClick: true,
  };
  return (
    <Field label={label} hint={hint} error={error} path={path} warning={warning}>
      {(control) => {
        const parts = (
          <>
            <Autocomplete.Input
              {...rest}
              {...control}
              onFocus={() => {
                before.current = value;
              }}
              onKeyDown={(event) => {
                // If the list is open, Escape closes it. Otherwise the library would clear the field.
                if (event.key !== 'Escape' || state.open) return;
                event.preventBaseUIHandler();
                if (value === before.current) return;
                // A surrounding dialog stays open.
                event.stopPropagation();
                onChange(before.current);
              }}
            />
            {list}
          </>
        );
        return groups === undefined ? (
          <Autocomplete.Root<Option> {...state} items={offered}>
            {parts}
          </Autocomplete.Root>
        ) : (
          <Autocomplete.Root<readonly OptionGroup[]> {...state} items={groups}>
            {parts}
          </Autocomplete.Root>
        );
      }}
    </Field>
  );
}
