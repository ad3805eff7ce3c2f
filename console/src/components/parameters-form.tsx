import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { call } from '../api.ts';
import type { Parameters } from '../api-types.ts';
import { formatJson } from '../format.ts';
import { t } from '../strings.ts';
import { SelectField, TextArea, TextField } from './fields.tsx';

const NUMBERS = [
  { name: 'temperature', label: 'Temperature', min: 0, max: 2, step: 0.1 },
  { name: 'max_tokens', label: 'Maximum output tokens', min: 1, step: 1 },
  { name: 'top_p', label: 'Top p', min: 0, max: 1, step: 0.05 },
  { name: 'top_k', label: 'Top k', min: 1, step: 1 },
  { name: 'frequency_penalty', label: 'Frequency penalty', min: -2, max: 2, step: 0.1 },
  { name: 'presence_penalty', label: 'Presence penalty', min: -2, max: 2, step: 0.1 },
  { name: 'seed', label: 'Seed', step: 1 },
] as const;
/** Number of parameters that are always shown. */
const COMMON = 2;
const RARE = [...NUMBERS.slice(COMMON).map(({ name }) => name), 'reasoning_effort', 'stop'];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const FORMATS = [
  { value: '', label: 'Model default' },
  { value: 'text', label: 'Text' },
  { value: 'json_object', label: 'JSON' },
  { value: 'json_schema', label: 'JSON schema' },
];
const EMPTY_SCHEMA = { type: 'object', properties: {}, required: [] };

/** Parameters of a model. Omitted ones use the provider's defaults. */
export function ParametersForm({
  model,
  value,
  onChange,
}: {
  /** Used to check which parameters it supports. */
  model: string;
  value: Parameters;
  onChange: (value: Parameters) => void;
}) {
  const warningOf = useWarnings(model, value);
  const [isOpen, setOpen] = useState(false);
  const change = (part: { [Name in keyof Parameters]?: Parameters[Name] | undefined }) =>
    onChange(
      Object.fromEntries(Object.entries({ ...value, ...part }).filter(([, each]) => each !== undefined)) as Parameters,
    );
  const number = ({ name, label, ...limits }: (typeof NUMBERS)[number]) => (
    <TextField
      key={name}
      label={label}
      type="number"
      {...limits}
      warning={warningOf(name)}
      value={value[name] === undefined ? '' : String(value[name])}
      onChange={(typed) => change({ [name]: typed === '' ? undefined : Number(typed) })}
    />
  );
  const format = value.response_format;
  const stop = value.stop === undefined ? [] : [value.stop].flat();
  return (
    <div className="stack">
      {NUMBERS.slice(0, COMMON).map(number)}
      <SelectField
        label="Output format"
        warning={warningOf('response_format')}
        value={format?.type ?? ''}
        onChange={(type) => change({ response_format: formatOf(type) })}
        options={FORMATS}
      />
      {format?.type === 'json_schema' && (
        <JsonField
          label="Schema"
          value={format.json_schema.schema}
          onChange={(schema) =>
            change({ response_format: { ...format, json_schema: { ...format.json_schema, schema: schema as never } } })
          }
        />
      )}
      <details
        open={isOpen || RARE.some((name) => warningOf(name) !== undefined)}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>More parameters</summary>
        <div className="stack">
          {NUMBERS.slice(COMMON).map(number)}
          <SelectField
            label="Reasoning effort"
            warning={warningOf('reasoning_effort')}
            value={value.reasoning_effort ?? ''}
            onChange={(effort) => change({ reasoning_effort: EFFORTS.find((each) => each === effort) })}
            options={[{ value: '', label: 'Model default' }, ...EFFORTS]}
          />
          <TextArea
            label="Stop sequences"
            warning={warningOf('stop')}
            rows={2}
            hint="One per line."
            value={stop.join('\n')}
            onChange={(typed) => change({ stop: typed === '' ? undefined : typed.split('\n') })}
          />
          <JsonField
            label="Provider options"
            hint={'By provider: {"openai": {"store": false}}'}
            value={value.provider_options}
            onChange={(options) => change({ provider_options: options as Parameters['provider_options'] })}
          />
        </div>
      </details>
    </div>
  );
}

/** Parameters that a model is known not to support, by name. */
function useWarnings(model: string, parameters: Parameters): (name: string) => string | undefined {
  const asked = useDeferredValue(JSON.stringify({ model: model.trim(), parameters }));
  const { data } = useQuery({
    queryKey: ['parameters', asked],
    queryFn: ({ signal }) =>
      call<{ unsupported: { parameter: string; message: string }[] }>('POST', '/parameters/check', {
        raw: asked,
        headers: { 'Content-Type': 'application/json' },
        signal,
      }),
    enabled: model.trim() !== '' && Object.keys(parameters).length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    // While typing, the model or a parameter may be incomplete.
    retry: false,
  });
  return (name) => data?.unsupported.find(({ parameter }) => parameter === name)?.message;
}

function formatOf(type: string): Parameters['response_format'] {
  if (type === 'json_schema')
    return { type: 'json_schema', json_schema: { name: 'response', schema: EMPTY_SCHEMA, strict: true } };
  return type === 'text' || type === 'json_object' ? { type } : undefined;
}

/** A field for JSON: passes valid values on. Empty means undefined. */
export function JsonField({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint?: string;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const [typed, setTyped] = useState(() => (value === undefined ? '' : formatJson(value)));
  const [error, setError] = useState<string>();
  return (
    <TextArea
      label={label}
      hint={hint}
      className="mono"
      rows={4}
      spellCheck={false}
      error={error}
      value={typed}
      onChange={(text) => {
        setTyped(text);
        try {
          onChange(text.trim() === '' ? undefined : JSON.parse(text));
          setError(undefined);
        } catch {
          setError(t('Not valid JSON yet: the last valid value is kept.'));
        }
      }}
    />
  );
}
