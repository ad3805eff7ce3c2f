import { useRef } from 'react';
import { CheckField, SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { ModelField } from '../../components/model-field.tsx';
import { JsonField } from '../../components/parameters-form.tsx';
import { EVALUATOR_KINDS, type Evaluator, kindOf, type Option, startOf } from './evaluator-kinds.ts';
import './evaluations.css';

const MAX_EVALUATORS = 10;
const KINDS = EVALUATOR_KINDS.map(({ type, label }) => ({ value: type, label }));
const DEFAULT_SCALE = { min: 1, max: 5 };

/** The evaluators of a run: one form for each, with the options of its kind. */
export function EvaluatorsForm({
  value,
  onChange,
}: {
  value: readonly Evaluator[];
  onChange: (value: Evaluator[]) => void;
}) {
  // What is typed into an evaluator's fields stays its own when one before it is taken away.
  const keys = useRef<number[]>([]);
  while (keys.current.length < value.length) keys.current.push(Math.max(-1, ...keys.current) + 1);
  const total = value.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const replace = (index: number, evaluator: Evaluator) =>
    onChange(value.map((each, at) => (at === index ? evaluator : each)));
  return (
    <div className="stack">
      {value.map((evaluator, index) => (
        <EvaluatorForm
          key={`${keys.current[index]} ${evaluator.type}`}
          number={index + 1}
          share={(evaluator.weight ?? 1) / total}
          evaluator={evaluator}
          onChange={(changed) => replace(index, changed)}
          onRemove={
            value.length === 1
              ? undefined
              : () => {
                  keys.current.splice(index, 1);
                  onChange(value.filter((_, at) => at !== index));
                }
          }
        />
      ))}
      {value.length < MAX_EVALUATORS && (
        <div>
          <button type="button" className="button" onClick={() => onChange([...value, startOf('contains')])}>
            Add an evaluator
          </button>
        </div>
      )}
    </div>
  );
}

function EvaluatorForm({
  number,
  share,
  evaluator,
  onChange,
  onRemove,
}: {
  number: number;
  share: number;
  evaluator: Evaluator;
  onChange: (evaluator: Evaluator) => void;
  onRemove: (() => void) | undefined;
}) {
  const kind = kindOf(evaluator.type);
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...rest } = evaluator;
    onChange((value === undefined ? rest : { ...rest, [name]: value }) as Evaluator);
  };
  return (
    <fieldset className="evaluator">
      <legend className="visually-hidden">Evaluator {number}</legend>
      <div className="filters">
        <SelectField
          label="Scores by"
          value={evaluator.type}
          onChange={(type) =>
            onChange({ ...startOf(type), ...(evaluator.weight !== undefined && { weight: evaluator.weight }) })
          }
          options={KINDS}
        />
        <TextField
          label="Name"
          value={evaluator.name ?? ''}
          onChange={(name) => set('name', name === '' ? undefined : name)}
          placeholder={evaluator.type}
          pattern="[A-Za-z0-9_\-]{1,64}"
          spellCheck={false}
        />
        <TextField
          label="Weight"
          type="number"
          min={0.001}
          max={1000}
          step="any"
          value={evaluator.weight === undefined ? '' : String(evaluator.weight)}
          placeholder="1"
          onChange={(typed) => set('weight', typed === '' ? undefined : Number(typed))}
        />
        {onRemove && (
          <button type="button" className="button" onClick={onRemove}>
            Remove<span className="visually-hidden"> evaluator {number}</span>
          </button>
        )}
      </div>
      <p className="field-hint">
        {kind?.description}
        {share < 1 && ` Counts ${Math.round(share * 100)} % of the score.`}
      </p>
      {kind?.options.map((option) => (
        <OptionField
          key={option.name}
          option={option}
          value={evaluator[option.name]}
          onChange={(value) => set(option.name, value)}
        />
      ))}
    </fieldset>
  );
}

function OptionField({
  option,
  value,
  onChange,
}: {
  option: Option;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const { label, hint } = option;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const typed = (next: string) => onChange(next === '' ? undefined : next);
  switch (option.kind) {
    case 'check':
      return (
        <CheckField label={label} checked={typeof value === 'boolean' ? value : option.default} onChange={onChange} />
      );
    case 'choice':
      return (
        <SelectField
          label={label}
          hint={hint}
          value={text || (option.choices[0]?.value ?? '')}
          onChange={onChange}
          options={option.choices}
        />
      );
    case 'number':
      return (
        <TextField
          label={label}
          hint={hint}
          type="number"
          step={option.step}
          min={option.min}
          required={option.required}
          value={text}
          onChange={(next) => onChange(next === '' ? undefined : Number(next))}
        />
      );
    case 'text':
      return (
        <TextField
          label={label}
          hint={hint}
          className="mono"
          required={option.required}
          spellCheck={false}
          value={text}
          onChange={typed}
        />
      );
    case 'long-text':
      return <TextArea label={label} hint={hint} rows={5} required={option.required} value={text} onChange={typed} />;
    case 'model':
      return <ModelField label={label} hint={hint} required={option.required} value={text} onChange={typed} />;
    case 'lines':
      return (
        <TextArea
          label={label}
          hint={hint}
          rows={3}
          value={Array.isArray(value) ? value.join('\n') : ''}
          onChange={(next) => onChange(next === '' ? undefined : next.split('\n'))}
        />
      );
    case 'json':
      return <JsonField label={label} {...(hint !== undefined && { hint })} value={value} onChange={onChange} />;
    case 'scale':
      return <ScaleField value={(value as typeof DEFAULT_SCALE | undefined) ?? DEFAULT_SCALE} onChange={onChange} />;
  }
}

function ScaleField({
  value,
  onChange,
}: {
  value: typeof DEFAULT_SCALE;
  onChange: (value: typeof DEFAULT_SCALE) => void;
}) {
  return (
    <div className="filters">
      {(['min', 'max'] as const).map((end) => (
        <TextField
          key={end}
          label={end === 'min' ? 'Lowest grade' : 'Highest grade'}
          type="number"
          step={1}
          required
          value={String(value[end])}
          onChange={(typed) => onChange({ ...value, [end]: Number(typed) })}
        />
      ))}
    </div>
  );
}
