import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ComboField } from '../../components/combo-field.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { ErrorState } from '../../components/states.tsx';
import { t } from '../../strings.ts';
import { EvaluatorsForm } from '../evaluations/evaluators-form.tsx';
import { datasetNamesQuery } from '../evaluations/queries.ts';
import { withoutTrace } from './in-words.ts';
import {
  asForms,
  asJson,
  type EditedCheck,
  type EditedStep,
  newCheck,
  newStep,
  type StepsForm,
  type StepType,
} from './steps-form-state.ts';
import './releases.css';

const MAX_STEPS = 20;
const MAX_CHECKS = 20;
const SPAN = '\\d{1,7}(\\.\\d{1,3})?(ms|s|m|h|d)';
const SPAN_HINT = t('Such as 30m, 6h or 2d; at most 30d.');

const TYPES: Record<StepType, { label: string; hint: string }> = {
  evaluate: { label: 'Evaluate', hint: 'The candidate and the stable version over a dataset.' },
  approve: { label: 'Approval', hint: 'Waits until people have approved.' },
  canary: { label: 'Canary', hint: 'From now on this share of keys gets the candidate.' },
  analyze: { label: 'Analyze', hint: 'Compares both versions over the same time, every minute.' },
  wait: { label: 'Wait', hint: 'During a canary step, the checks of the next analysis also apply.' },
  promote: { label: 'Promote', hint: 'The label moves to the candidate. Always the last step.' },
};
const CHOICES = Object.entries(TYPES).map(([value, { label }]) => ({ value, label }));

/** The steps of a release or a policy: a form for each, or all as JSON. */
export function StepsFields({ value, onChange }: { value: StepsForm; onChange: (value: StepsForm) => void }) {
  const { steps, json } = value;
  const [error, setError] = useState<unknown>();
  const turn = (change: (form: StepsForm) => StepsForm) => {
    try {
      onChange(change(value));
      setError(undefined);
    } catch (thrown) {
      setError(thrown);
    }
  };
  const set = (changed: EditedStep[]) => onChange({ ...value, steps: changed });
  const last = steps.at(-1);
  // New steps are inserted before the end.
  const add = () =>
    set(last?.type === 'promote' ? [...steps.slice(0, -1), newStep('wait'), last] : [...steps, newStep('wait')]);
  const move = (from: number, to: number) => {
    const moved = [...steps];
    moved.splice(to, 0, ...moved.splice(from, 1));
    set(moved);
  };
  return (
    <div className="stack">
      <CheckField
        label="Write them as JSON"
        checked={json !== undefined}
        onChange={(isJson) => turn(isJson ? asJson : asForms)}
      />
      {error !== undefined && <ErrorState error={error} />}
      {json === undefined ? (
        <>
          <ol className="stack">
            {steps.map((step, index) => (
              <li key={step.key}>
                <StepFields
                  step={step}
                  number={index + 1}
                  onChange={(changed) => set(steps.map((each) => (each === step ? changed : each)))}
                  onUp={index > 0 ? () => move(index, index - 1) : undefined}
                  onDown={index < steps.length - 1 ? () => move(index, index + 1) : undefined}
                  onRemove={steps.length > 1 ? () => set(steps.filter((each) => each !== step)) : undefined}
                />
              </li>
            ))}
          </ol>
          {steps.length < MAX_STEPS && (
            <div>
              <Button onClick={add}>Add a step</Button>
            </div>
          )}
        </>
      ) : (
        <TextArea
          label="Steps"
          className="mono"
          rows={16}
          required
          spellCheck={false}
          value={json}
          onChange={(typed) => onChange({ ...value, json: typed })}
          hint="A JSON array, in the format of the API."
        />
      )}
    </div>
  );
}

/** An optional number. @param scale ratio of the displayed to the stored value */
function NumberField({
  value,
  onChange,
  scale = 1,
  ...rest
}: {
  label: string;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
  scale?: number;
  hint?: string;
  min?: number;
  max?: number;
  step?: number | 'any';
  required?: boolean;
  placeholder?: string;
}) {
  return (
    <TextField
      {...rest}
      type="number"
      value={value === undefined ? '' : String(Number((value * scale).toFixed(8)))}
      onChange={(typed) => onChange(typed === '' ? undefined : Number((Number(typed) / scale).toFixed(10)))}
    />
  );
}

interface StepProps {
  step: EditedStep;
  set: (part: Partial<EditedStep>) => void;
}

function StepFields({
  step,
  number,
  onChange,
  onUp,
  onDown,
  onRemove,
}: {
  step: EditedStep;
  number: number;
  onChange: (step: EditedStep) => void;
  onUp: (() => void) | undefined;
  onDown: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}) {
  const set = (part: Partial<EditedStep>) => onChange({ ...step, ...part });
  const { type } = step;
  const tool = (label: string, act: (() => void) | undefined) =>
    act && (
      <Button look="small" onClick={act}>
        {label}
        <span className="visually-hidden"> step {number}</span>
      </Button>
    );
  return (
    <fieldset className="release-step-form">
      <legend>
        Step {number}: {TYPES[type].label}
      </legend>
      <div className="filters">
        <SelectField
          label="What it does"
          value={type}
          onChange={(chosen) => onChange({ ...newStep(chosen as StepType), key: step.key })}
          options={CHOICES}
        />
        {type === 'approve' && (
          <NumberField
            label="Approvals"
            min={1}
            max={20}
            step={1}
            required
            value={step.count}
            onChange={(count) => set({ count })}
          />
        )}
        {type === 'canary' && (
          <NumberField
            label="Share, in %"
            min={0.1}
            max={100}
            step="any"
            required
            value={step.percent}
            onChange={(percent) => set({ percent })}
          />
        )}
        {(type === 'analyze' || type === 'wait') && <SpanField step={step} set={set} label="For (30m, 6h, 2d)" />}
        {type === 'analyze' && (
          <NumberField
            label="Executions at least"
            min={0}
            step={1}
            value={step.minExecutions}
            placeholder="0"
            onChange={(minExecutions) => set({ minExecutions })}
          />
        )}
        <div className="row">
          {tool(t('Up'), onUp)}
          {tool(t('Down'), onDown)}
          {tool(t('Remove'), onRemove)}
        </div>
      </div>
      <p className="field-hint">{TYPES[type].hint}</p>
      {type === 'evaluate' && <EvaluateFields step={step} set={set} />}
      {type === 'approve' && (
        <CheckField
          label="Exclude the author of the version and the person who started the release"
          checked={step.excludeAuthor}
          onChange={(excludeAuthor) => set({ excludeAuthor })}
        />
      )}
      {type === 'promote' && (
        <>
          <CheckField
            label="Bake: watch it after the label has moved, and move it back where a check fails"
            checked={step.bakes}
            onChange={(bakes) => set({ bakes })}
          />
          {step.bakes && <SpanField step={step} set={set} label="Bake for (30m, 6h, 2d)" />}
        </>
      )}
      {(type === 'analyze' || (type === 'promote' && step.bakes)) && (
        <ChecksFields checks={step.checks} onChange={(checks) => set({ checks })} canBeEmpty={type === 'promote'} />
      )}
    </fieldset>
  );
}

const SpanField = ({ step, set, label }: StepProps & { label: string }) => (
  <TextField
    label={label}
    value={step.for}
    onChange={(span) => set({ for: span })}
    required
    pattern={SPAN}
    title={SPAN_HINT}
    spellCheck={false}
  />
);

function EvaluateFields({ step, set }: StepProps) {
  const datasets = useQuery(datasetNamesQuery).data?.data ?? [];
  const chosen = datasets.find(({ name }) => name === step.dataset);
  return (
    <>
      <div className="filters">
        <ComboField
          label="Dataset"
          value={step.dataset}
          onChange={(dataset) => set({ dataset })}
          options={datasets.map(({ name }) => name)}
          required
          spellCheck={false}
        />
        <TextField
          label="Version of the dataset"
          type="number"
          min={1}
          step={1}
          placeholder={chosen ? `latest: ${chosen.version}` : 'latest'}
          value={step.datasetVersion}
          onChange={(datasetVersion) => set({ datasetVersion })}
        />
        <SelectField
          label="The candidate must"
          value={step.require}
          onChange={(require) => set({ require: require as EditedStep['require'] })}
          options={[
            { value: 'not_worse', label: 'not be worse' },
            { value: 'better', label: 'be better' },
            { value: 'threshold', label: 'reach a score' },
          ]}
        />
        {step.require === 'threshold' && (
          <NumberField
            label="Score, in %"
            min={0}
            max={100}
            step="any"
            scale={100}
            required
            value={step.threshold}
            onChange={(threshold) => set({ threshold })}
          />
        )}
        <NumberField
          label="Examples that may get worse"
          min={0}
          step={1}
          placeholder="any"
          value={step.maxRegressions}
          onChange={(maxRegressions) => set({ maxRegressions })}
        />
        <TextField
          label="Maximum cost, in US dollars"
          type="number"
          min={0}
          step="any"
          placeholder="no limit"
          value={step.maxCost}
          onChange={(maxCost) => set({ maxCost })}
        />
      </div>
      <EvaluatorsForm value={step.evaluators} onChange={(evaluators) => set({ evaluators })} />
    </>
  );
}

const METRICS = [
  { value: 'error_rate', label: 'Error rate' },
  { value: 'latency_p95', label: 'Latency, p95' },
  { value: 'cost_mean', label: 'Mean cost' },
  { value: 'score', label: 'A score, mean' },
  { value: 'trace:error_rate', label: 'Error rate of traces' },
  { value: 'trace:latency_p95', label: 'Duration of traces, p95' },
  { value: 'trace:cost_mean', label: 'Mean cost of traces' },
  { value: 'trace:score', label: 'A score of traces, mean' },
];

/** Input units of each metric. */
const UNITS: Record<string, { more: string; less: string; scale: number; against: string; againstScale: number }> = {
  error_rate: {
    more: t('Maximum increase, in points'),
    less: t('Maximum decrease, in points'),
    scale: 100,
    against: t('Number, in %'),
    againstScale: 100,
  },
  latency_p95: {
    more: t('Maximum increase, in %'),
    less: t('Maximum decrease, in %'),
    scale: 100,
    against: t('Number, in ms'),
    againstScale: 1,
  },
  cost_mean: {
    more: t('Maximum increase, in %'),
    less: t('Maximum decrease, in %'),
    scale: 100,
    against: t('Number, in US dollars'),
    againstScale: 1,
  },
};
const SCORE = {
  more: t('Maximum increase'),
  less: t('Maximum decrease'),
  scale: 1,
  against: t('Number'),
  againstScale: 1,
};

/** Defaults of a metric: a score should not fall, all others should not rise. */
const START: Record<string, Pick<EditedCheck, 'max_increase' | 'max_decrease'>> = {
  error_rate: { max_increase: 0.01, max_decrease: undefined },
  latency_p95: { max_increase: 0.2, max_decrease: undefined },
  cost_mean: { max_increase: 0.2, max_decrease: undefined },
  score: { max_increase: undefined, max_decrease: 0.05 },
};

function ChecksFields({
  checks,
  onChange,
  canBeEmpty,
}: {
  checks: readonly EditedCheck[];
  onChange: (checks: EditedCheck[]) => void;
  canBeEmpty: boolean;
}) {
  const replace = (index: number, check: EditedCheck) =>
    onChange(checks.map((each, at) => (at === index ? check : each)));
  return (
    <div className="stack">
      {checks.map((check, index) => (
        <CheckFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a check has no id
          key={index}
          number={index + 1}
          check={check}
          onChange={(changed) => replace(index, changed)}
          onRemove={
            checks.length > 1 || canBeEmpty ? () => onChange(checks.filter((_, at) => at !== index)) : undefined
          }
        />
      ))}
      {checks.length < MAX_CHECKS && (
        <div>
          <Button look="small" onClick={() => onChange([...checks, newCheck()])}>
            Add a check
          </Button>
        </div>
      )}
    </div>
  );
}

function CheckFields({
  check,
  number,
  onChange,
  onRemove,
}: {
  check: EditedCheck;
  number: number;
  onChange: (check: EditedCheck) => void;
  onRemove: (() => void) | undefined;
}) {
  const set = (part: Partial<EditedCheck>) => onChange({ ...check, ...part });
  const score = /^(trace:)?score/.exec(check.metric)?.[0];
  const unit = UNITS[withoutTrace(check.metric)] ?? SCORE;
  return (
    <fieldset className="evaluator">
      <legend className="visually-hidden">Check {number}</legend>
      <div className="filters">
        <SelectField
          label="Check"
          value={score ?? check.metric}
          onChange={(metric) =>
            set({
              ...START[withoutTrace(metric)],
              metric: metric.endsWith('score') ? `${metric}:` : metric,
              against: 'stable',
            })
          }
          options={METRICS}
        />
        {score !== undefined && (
          <TextField
            label="Name of the score"
            value={check.metric.slice(score.length + 1)}
            onChange={(name) => set({ metric: `${score}:${name}` })}
            required
            spellCheck={false}
          />
        )}
        <SelectField
          label="Against"
          value={check.against === 'stable' ? 'stable' : 'number'}
          onChange={(against) => set({ against: against === 'stable' ? 'stable' : undefined })}
          options={[
            { value: 'stable', label: 'The stable version' },
            { value: 'number', label: 'A number' },
          ]}
        />
        {check.against !== 'stable' && (
          <NumberField
            label={unit.against}
            scale={unit.againstScale}
            step="any"
            required
            value={check.against}
            onChange={(against) => set({ against })}
          />
        )}
        <NumberField
          label={unit.more}
          scale={unit.scale}
          min={0}
          step="any"
          placeholder="no limit"
          required={check.max_decrease === undefined}
          value={check.max_increase}
          onChange={(max_increase) => set({ max_increase })}
        />
        <NumberField
          label={unit.less}
          scale={unit.scale}
          min={0}
          step="any"
          placeholder="no limit"
          value={check.max_decrease}
          onChange={(max_decrease) => set({ max_decrease })}
        />
        <SelectField
          label="If the results are inconclusive"
          value={check.on_inconclusive}
          onChange={(chosen) => set({ on_inconclusive: chosen as EditedCheck['on_inconclusive'] })}
          options={[
            { value: 'pause', label: 'pause for people to check' },
            { value: 'continue', label: 'continue' },
            { value: 'rollback', label: 'roll back' },
          ]}
        />
        {onRemove && (
          <Button onClick={onRemove}>
            Remove<span className="visually-hidden"> check {number}</span>
          </Button>
        )}
      </div>
    </fieldset>
  );
}
