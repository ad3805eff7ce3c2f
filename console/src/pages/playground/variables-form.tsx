import type { Inputs } from '../../api-types.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { JsonField } from '../../components/parameters-form.tsx';
import { t } from '../../strings.ts';
import { isRequired } from '../prompt/inputs-form.tsx';

/** A field for each variable, according to the prompt's inputs. */
export function VariablesForm({
  names,
  inputs,
  values,
  onChange,
}: {
  names: readonly string[];
  inputs: Inputs;
  values: Record<string, unknown>;
  onChange: (values: Record<string, unknown>) => void;
}) {
  if (names.length === 0) return null;
  return (
    <div className="bench-variables">
      {names.map((name) => (
        <VariableField
          key={name}
          name={name}
          input={inputs[name]}
          value={values[name]}
          onChange={(value) => onChange({ ...values, [name]: value })}
        />
      ))}
    </div>
  );
}

/** A scalar as shown in a field. */
const shown = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function VariableField({
  name,
  input,
  value,
  onChange,
}: {
  name: string;
  input: Inputs[string] | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const optional = input !== undefined && !isRequired(input);
  const hint = [
    input?.description,
    input?.default !== undefined && t(`Default: ${JSON.stringify(input.default)}`),
    optional && input?.default === undefined && t('Optional.'),
  ]
    .filter(Boolean)
    .join(' ');
  if (input?.enum)
    return (
      <SelectField
        label={name}
        hint={hint}
        value={shown(value)}
        onChange={(chosen) => onChange(input.enum?.find((each) => shown(each) === chosen))}
        options={[{ value: '', label: '–' }, ...input.enum.map(shown)]}
      />
    );
  switch (input?.type) {
    case 'number':
      return (
        <TextField
          label={name}
          hint={hint}
          type="number"
          step="any"
          value={shown(value)}
          onChange={(typed) => onChange(typed === '' ? undefined : Number(typed))}
        />
      );
    case 'boolean':
      return <CheckField label={name} checked={value === true} onChange={onChange} />;
    case 'json':
    case 'messages':
    case 'file':
      return <JsonField label={`${name} (${input.type}, as JSON)`} hint={hint} value={value} onChange={onChange} />;
    default:
      // Values of a past run can be other than strings.
      if (value !== undefined && typeof value !== 'string')
        return <JsonField label={`${name} (JSON)`} hint={hint} value={value} onChange={onChange} />;
      return (
        <TextArea
          label={name}
          hint={hint}
          rows={2}
          value={value ?? ''}
          onChange={(typed) => onChange(typed === '' && optional ? undefined : typed)}
        />
      );
  }
}
