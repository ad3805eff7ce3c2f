import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { QueryState } from '../../components/states.tsx';
import { type Evaluator, type EvaluatorType, startOf } from './evaluator.ts';
import { OptionField } from './option-field.tsx';
import { evaluatorTypesQuery } from './queries.ts';
import './evaluations.css';

const MAX_EVALUATORS = 10;

interface EvaluatorsFormProps {
  value: readonly Evaluator[];
  onChange: (value: Evaluator[]) => void;
  /** Types that are not available here. */
  except?: readonly string[];
}

/** The evaluators of a run: a form for each, with the options of its type. */
export function EvaluatorsForm(props: EvaluatorsFormProps) {
  const query = useQuery(evaluatorTypesQuery);
  return (
    <QueryState query={query} what="evaluators">
      {({ data }) => {
        const [first, ...others] = data.filter(({ type }) => !props.except?.includes(type));
        return first && <Forms {...props} types={[first, ...others]} />;
      }}
    </QueryState>
  );
}

type Types = readonly [EvaluatorType, ...EvaluatorType[]];

function Forms({ value, onChange, types }: EvaluatorsFormProps & { types: Types }) {
  // Stable keys, so that input stays with its evaluator when an earlier one is removed.
  const keys = useRef<number[]>([]);
  while (keys.current.length < value.length) keys.current.push(Math.max(-1, ...keys.current) + 1);
  const unused = types.find(({ type }) => value.every((each) => each.type !== type)) ?? types[0];
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
          types={types}
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
          <Button onClick={() => onChange([...value, startOf(unused)])}>Add an evaluator</Button>
        </div>
      )}
    </div>
  );
}

function EvaluatorForm({
  number,
  share,
  evaluator,
  types,
  onChange,
  onRemove,
}: {
  number: number;
  share: number;
  evaluator: Evaluator;
  types: Types;
  onChange: (evaluator: Evaluator) => void;
  onRemove: (() => void) | undefined;
}) {
  const own = types.find(({ type }) => type === evaluator.type);
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
          onChange={(chosen) => {
            const start = startOf(types.find(({ type }) => type === chosen) ?? types[0]);
            onChange({ ...start, ...(evaluator.weight !== undefined && { weight: evaluator.weight }) });
          }}
          options={types.map(({ type, title }) => ({ value: type, label: title }))}
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
          <Button onClick={onRemove}>
            Remove<span className="visually-hidden"> evaluator {number}</span>
          </Button>
        )}
      </div>
      <p className="field-hint">
        {own?.description}
        {share < 1 && ` Counts ${Math.round(share * 100)} % of the score.`}
      </p>
      {Object.entries(own?.options.properties ?? {}).map(([name, schema]) => (
        <OptionField
          key={name}
          name={name}
          schema={schema}
          required={own?.options.required.includes(name) ?? false}
          value={evaluator[name]}
          onChange={(value) => set(name, value)}
        />
      ))}
    </fieldset>
  );
}
