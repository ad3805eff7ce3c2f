import { useQuery } from '@tanstack/react-query';
import { lazy, useRef, useState } from 'react';
import { Button, DialogButton } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { QueryState } from '../../components/states.tsx';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import type { SavedEvaluator } from '../saved-evaluators/types.ts';
import { type Evaluator, type EvaluatorType, startOf } from './evaluator.ts';
import { controlOf, OptionField, type OptionSchema } from './option-field.tsx';
import { evaluatorTypesQuery, savedEvaluatorsQuery } from './queries.ts';
import './evaluations.css';

const MAX_EVALUATORS = 10;

/** Loaded when it is opened: it contains this form. */
const SaveDialog = lazy(async () => ({
  default: (await import('../saved-evaluators/saved-evaluator-dialog.tsx')).SavedEvaluatorDialog,
}));

interface EvaluatorsFormProps {
  value: readonly Evaluator[];
  onChange: (value: Evaluator[]) => void;
  /** Types that are not available here; `saved`: nor are saved evaluators. */
  except?: readonly string[];
  /** Whether there is exactly one, which has its name elsewhere. */
  isOne?: boolean;
}

/** The evaluators of a run: a form for each, with the options of its type. */
export function EvaluatorsForm(props: EvaluatorsFormProps) {
  const query = useQuery(evaluatorTypesQuery);
  const saved = useQuery(savedEvaluatorsQuery).data?.data ?? [];
  const isFit = (type: string) => !props.except?.includes(type);
  return (
    <QueryState query={query} what="evaluators">
      {({ data }) => {
        const [first, ...others] = data.filter(({ type }) => isFit(type));
        const usable = isFit('saved') ? saved.filter(({ evaluator }) => isFit(evaluator.type)) : [];
        return first && <Forms {...props} types={[first, ...others]} saved={usable} />;
      }}
    </QueryState>
  );
}

type Types = readonly [EvaluatorType, ...EvaluatorType[]];

function Forms({
  value,
  onChange,
  types,
  saved,
  isOne = false,
}: EvaluatorsFormProps & { types: Types; saved: readonly SavedEvaluator[] }) {
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
          saved={saved}
          isOne={isOne}
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
      {value.length < MAX_EVALUATORS && !isOne && (
        <div className="filters">
          <Button onClick={() => onChange([...value, startOf(unused)])}>Add an evaluator</Button>
          <AddSaved
            saved={saved.filter(({ name }) => value.every((each) => (each.name ?? each.type) !== name))}
            onAdd={(name) => onChange([...value, { type: 'saved', name }])}
          />
        </div>
      )}
    </div>
  );
}

/** Adds a saved evaluator by its name. */
function AddSaved({ saved, onAdd }: { saved: readonly SavedEvaluator[]; onAdd: (name: string) => void }) {
  if (saved.length === 0) return null;
  return (
    <select
      aria-label="Add a saved evaluator"
      value=""
      onChange={(event) => {
        if (event.target.value !== '') onAdd(event.target.value);
      }}
    >
      <option value="">Add a saved one…</option>
      {saved.map(({ name }) => (
        <option key={name} translate="no">
          {name}
        </option>
      ))}
    </select>
  );
}

/** A saved evaluator that is used by its name. */
function SavedForm({ number, evaluator, saved, onChange, onRemove }: Omit<EvaluatorFormProps, 'types' | 'share'>) {
  const { name = '', version, weight } = evaluator;
  const found = saved.find((each) => each.name === name);
  const set = (option: 'version' | 'weight', typed: string) => {
    const { [option]: _, ...rest } = evaluator;
    onChange((typed === '' ? rest : { ...rest, [option]: Number(typed) }) as Evaluator);
  };
  return (
    <fieldset className="evaluator">
      <legend className="visually-hidden">Evaluator {number}</legend>
      <div className="filters">
        <p>
          Saved evaluator{' '}
          <strong className="mono" translate="no">
            {name}
          </strong>
        </p>
        <SelectField
          label="Version"
          value={typeof version === 'number' ? String(version) : ''}
          onChange={(chosen) => set('version', chosen)}
          options={[
            { value: '', label: found ? t(`newest (v${found.versions})`) : t('newest') },
            ...Array.from({ length: found?.versions ?? 0 }, (_, at) => String((found?.versions ?? 0) - at)),
          ]}
        />
        <TextField
          label="Weight"
          type="number"
          min={0.001}
          max={1000}
          step="any"
          value={weight === undefined ? '' : String(weight)}
          placeholder={String(found?.evaluator.weight ?? 1)}
          onChange={(typed) => set('weight', typed)}
        />
        {onRemove && (
          <Button onClick={onRemove}>
            Remove<span className="visually-hidden"> evaluator {number}</span>
          </Button>
        )}
      </div>
      {found?.description && <p className="field-hint">{found.description}</p>}
    </fieldset>
  );
}

interface EvaluatorFormProps {
  number: number;
  share: number;
  evaluator: Evaluator;
  types: Types;
  saved: readonly SavedEvaluator[];
  isOne: boolean;
  onChange: (evaluator: Evaluator) => void;
  onRemove: (() => void) | undefined;
}

function EvaluatorForm({ number, share, evaluator, types, saved, isOne, onChange, onRemove }: EvaluatorFormProps) {
  const maySave = useMay('write') && !isOne && evaluator.type !== 'http';
  const own = types.find(({ type }) => type === evaluator.type);
  const options = Object.entries(own?.options.properties ?? {});
  const isRare = ([name, schema]: [string, OptionSchema]) =>
    name === 'threshold' || (['check', 'json'].includes(controlOf(schema)) && !own?.options.required.includes(name));
  const rare = options.filter(isRare);
  const [isUsual] = useState(() =>
    rare.every(
      ([name, { default: usual = false }]) => JSON.stringify(evaluator[name] ?? usual) === JSON.stringify(usual),
    ),
  );
  if (evaluator.type === 'saved') return <SavedForm {...{ number, evaluator, saved, isOne, onChange, onRemove }} />;
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...rest } = evaluator;
    onChange((value === undefined ? rest : { ...rest, [name]: value }) as Evaluator);
  };
  const fieldOf = ([name, schema]: [string, OptionSchema]) => (
    <OptionField
      key={name}
      name={name}
      schema={schema}
      required={own?.options.required.includes(name) ?? false}
      value={evaluator[name]}
      onChange={(value) => set(name, value)}
    />
  );
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
        {!isOne && (
          <TextField
            label="Name"
            value={evaluator.name ?? ''}
            onChange={(name) => set('name', name === '' ? undefined : name)}
            placeholder={evaluator.type}
            pattern="[A-Za-z0-9_\-]{1,64}"
            spellCheck={false}
          />
        )}
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
      </div>
      <div className="row evaluator-hint">
        <p className="field-hint">
          {own?.description}
          {share < 1 && ` Counts ${Math.round(share * 100)} % of the score.`}
        </p>
        {maySave && (
          <DialogButton
            label="Reuse elsewhere…"
            look="small"
            dialog={(close) => <SaveDialog given={evaluator} onClose={close} />}
          />
        )}
        {onRemove && (
          <Button look="small" onClick={onRemove}>
            Remove<span className="visually-hidden"> evaluator {number}</span>
          </Button>
        )}
      </div>
      <div className="evaluator-options">{options.filter((each) => !isRare(each)).map(fieldOf)}</div>
      <details open={!isUsual}>
        <summary>More options</summary>
        <div className="evaluator-options">{rare.map(fieldOf)}</div>
      </details>
    </fieldset>
  );
}
