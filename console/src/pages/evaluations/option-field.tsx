import { CheckField, SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { JsonField } from '../../components/parameters-form.tsx';

/** An option of an evaluator: the part of its JSON schema that the console uses (`GET /evaluators`). */
export interface OptionSchema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  example?: unknown;
  enum?: string[];
  'x-enumDescriptions'?: Record<string, string>;
  'x-field'?: string;
  minimum?: number;
  maximum?: number;
  items?: { type?: string };
  properties?: Record<string, OptionSchema>;
}

interface OptionFieldProps {
  name: string;
  schema: OptionSchema;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** The control for an option. Empty options are omitted, so the API's default applies. */
export function OptionField({ name, schema, required, value, onChange }: OptionFieldProps) {
  const label = schema.title ?? name;
  const hint = schema.description;
  const text = shown(value);
  const common = { label, hint, required, value: text };
  const typed = (next: string) => onChange(next === '' ? undefined : next);
  switch (controlOf(schema)) {
    case 'none':
      return null;
    case 'check':
      return <CheckField label={label} checked={(value ?? schema.default) === true} onChange={onChange} />;
    case 'choice':
      return (
        <SelectField
          {...common}
          value={text || shown(schema.default)}
          onChange={onChange}
          options={(schema.enum ?? []).map((each) => ({
            value: each,
            label: schema['x-enumDescriptions']?.[each] ?? each,
          }))}
        />
      );
    case 'number':
      return (
        <TextField
          {...common}
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          placeholder={shown(schema.default)}
          onChange={(next) => onChange(next === '' ? undefined : Number(next))}
        />
      );
    case 'text':
      return <TextField {...common} className="mono" spellCheck={false} onChange={typed} />;
    case 'long-text':
      return <TextArea {...common} rows={5} onChange={typed} />;
    case 'model':
      return <ModelField {...common} onChange={typed} />;
    case 'lines':
      return (
        <TextArea
          {...common}
          rows={2}
          value={Array.isArray(value) ? value.join('\n') : ''}
          onChange={(next) => onChange(next === '' ? undefined : next.split('\n'))}
        />
      );
    case 'fields':
      return <NestedFields schema={schema} label={label} value={value ?? schema.default} onChange={onChange} />;
    default:
      return <JsonField label={label} {...(hint !== undefined && { hint })} value={value} onChange={onChange} />;
  }
}

const shown = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** `x-field`, or the default of the type. */
export function controlOf({ type, items, properties, ...schema }: OptionSchema): string {
  if (schema['x-field'] !== undefined) return schema['x-field'];
  if (schema.enum !== undefined) return 'choice';
  if (type === 'boolean') return 'check';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string') return 'text';
  if (type === 'array' && items?.type === 'string') return 'lines';
  return properties === undefined ? 'json' : 'fields';
}

/** An object whose fields are all required. */
function NestedFields({
  schema,
  label,
  value,
  onChange,
}: {
  schema: OptionSchema;
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  return (
    <fieldset>
      <legend className="visually-hidden">{label}</legend>
      <div className="filters">
        {Object.entries(schema.properties ?? {}).map(([name, each]) => (
          <OptionField
            key={name}
            name={name}
            schema={each}
            required
            value={fields[name]}
            onChange={(changed) => onChange({ ...fields, [name]: changed })}
          />
        ))}
      </div>
    </fieldset>
  );
}
