import { type ComponentProps, createContext, type ReactNode, useContext, useId, useState } from 'react';

/** Errors of the API for the surrounding form, by path. */
export const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  /** A possible problem with the value, which is accepted anyway. */
  warning?: ReactNode;
  /** The path of the value in the form's data, such as `checks.0.above`: the API’s error for it is shown here. */
  path?: string | undefined;
}

/** A label, a control, and a hint. `children` gets the attributes that connect them. */
export function Field({
  label,
  hint,
  error: own,
  path,
  warning,
  children,
}: FieldProps & {
  children: (control: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }) => ReactNode;
}) {
  const id = useId();
  const refused = useContext(FieldErrors);
  const error = own ?? (path === undefined ? undefined : refused.get(path));
  const notes = [hint && `${id}-hint`, warning && `${id}-warning`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': notes === '' ? undefined : notes, 'aria-invalid': error !== undefined })}
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {warning && (
        <div id={`${id}-warning`} className="field-warning">
          {warning}
        </div>
      )}
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </div>
  );
}

/** All attributes of an element except those that the field sets. */
type Rest<Element extends 'input' | 'textarea' | 'select'> = Omit<
  ComponentProps<Element>,
  'value' | 'onChange' | 'id' | 'children'
>;

interface TextProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
}

export function TextField({ label, hint, error, path, warning, value, onChange, ...rest }: TextProps & Rest<'input'>) {
  return (
    <Field label={label} hint={hint} error={error} path={path} warning={warning}>
      {(control) => <input {...rest} {...control} value={value} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  path,
  warning,
  value,
  onChange,
  ...rest
}: TextProps & Rest<'textarea'>) {
  return (
    <Field label={label} hint={hint} error={error} path={path} warning={warning}>
      {(control) => (
        <textarea {...rest} {...control} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  path,
  warning,
  value,
  onChange,
  options,
  ...rest
}: TextProps & Rest<'select'> & { options: readonly (string | { value: string; label: string })[] }) {
  const [chosen, setChosen] = useState(value);
  const [known, setKnown] = useState(value);
  // The address takes over a choice only when its page is ready. A newer choice is kept.
  if (value !== known) {
    setKnown(value);
    if (chosen === known) setChosen(value);
  }
  return (
    <Field label={label} hint={hint} error={error} path={path} warning={warning}>
      {(control) => (
        <select
          {...rest}
          {...control}
          value={chosen}
          onChange={(event) => {
            setChosen(event.target.value);
            onChange(event.target.value);
          }}
        >
          {options.map((option) => {
            const each = typeof option === 'string' ? { value: option, label: option } : option;
            return (
              <option key={each.value} value={each.value}>
                {each.label}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  checked,
  onChange,
  disabled = false,
  required = false,
}: {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  /** Whether submitting requires it to be checked. */
  required?: boolean;
}) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        required={required}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
