import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, put } from '../../api.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { labelsQuery, requireNew } from '../../queries.ts';
import { t } from '../../strings.ts';
import { type Evaluator, newSecrets } from '../evaluations/evaluator.ts';
import { EvaluatorsForm } from '../evaluations/evaluators-form.tsx';
import { SecretsDialog } from '../evaluations/secrets-dialog.tsx';
import { namesQuery } from '../prompts/names-query.ts';
import { EMPTY_FILTER } from '../scores/execution-filter.tsx';
import { formOf, type RuleForm, toPut } from './rule-form-state.ts';
import type { Rule } from './types.ts';

const OF: { value: RuleForm['of']; label: string }[] = [
  { value: 'all', label: 'Executions of every prompt' },
  { value: 'prompt', label: 'Executions of one prompt' },
  { value: 'group', label: 'Executions of a folder of prompts' },
  { value: 'traces', label: 'Traces' },
];

/** Conditions of traces with a field. */
const TRACE_FIELDS = [
  { name: 'name', label: 'Name of the trace' },
  { name: 'agent', label: 'With the agent' },
  { name: 'tool', label: 'With the tool' },
];

/** A value of a filter in its field: texts and numbers; others are not edited here. */
const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** Creates or edits a rule. */
export function RuleDialog({ rule, onClose }: { rule?: Rule; onClose: () => void }) {
  const [form, setForm] = useState(() => formOf(rule));
  const [secrets, setSecrets] = useState<ReturnType<typeof newSecrets>>([]);
  const client = useQueryClient();
  const navigate = useNavigate();
  const leave = async () => {
    onClose();
    if (rule === undefined) await navigate({ to: '/rules/$', params: { _splat: form.name.trim() } });
  };
  const save = async () => {
    const name = form.name.trim();
    if (rule === undefined)
      await requireNew(pathOf('rules', name), t(`There is a rule of the name “${name}” already.`));
    const body = toPut(form, rule?.enabled ?? true);
    const saved = await put<Rule>(pathOf('rules', name), body);
    await client.invalidateQueries({ queryKey: ['rules'] });
    // A change keeps existing secrets: the response contains only new ones.
    const made = newSecrets(form.evaluators, saved.evaluators as Evaluator[]);
    setSecrets(made);
    if (made.length === 0) await leave();
    return false;
  };
  if (secrets.length > 0) return <SecretsDialog secrets={secrets} onClose={() => void leave()} />;
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={rule === undefined ? 'New rule' : `Change ${rule.name}`}
      submitLabel={rule === undefined ? 'Create' : 'Save'}
      onSubmit={save}
    >
      <Fields value={form} onChange={setForm} isNew={rule === undefined} />
    </FormDialog>
  );
}

function Fields({ value, onChange, isNew }: { value: RuleForm; onChange: (value: RuleForm) => void; isNew: boolean }) {
  const names = useQuery(namesQuery).data ?? [];
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const set = (part: Partial<RuleForm>) => onChange({ ...value, ...part });
  const isOfTraces = value.of === 'traces';
  const { rest } = value.filter;
  const others = Object.entries(rest).filter(
    ([name]) => !(isOfTraces && TRACE_FIELDS.some((field) => field.name === name)),
  );
  const setRest = (name: string, text: string) => {
    const { [name]: _, ...without } = rest;
    set({ filter: { ...value.filter, rest: text.trim() === '' ? without : { ...rest, [name]: text } } });
  };
  return (
    <>
      {isNew && (
        <TextField
          label="Name of the rule"
          required
          spellCheck={false}
          placeholder="support/tone"
          value={value.name}
          onChange={(name) => set({ name })}
        />
      )}
      <div className="filters">
        <SelectField
          label="Scores"
          value={value.of}
          onChange={(chosen) => {
            const of = OF.find((each) => each.value === chosen)?.value ?? 'all';
            set({ of, filter: (of === 'traces') === isOfTraces ? value.filter : EMPTY_FILTER });
          }}
          options={OF}
        />
        {isOfTraces &&
          TRACE_FIELDS.map(({ name, label }) => (
            <TextField
              key={name}
              label={label}
              spellCheck={false}
              placeholder="any"
              value={textOf(rest[name])}
              onChange={(text) => setRest(name, text)}
            />
          ))}
        {(value.of === 'prompt' || value.of === 'group') && (
          <ComboField
            label={value.of === 'prompt' ? 'Prompt' : 'Folder'}
            required
            spellCheck={false}
            options={value.of === 'prompt' ? names : []}
            value={value.prompts}
            onChange={(prompts) => set({ prompts })}
          />
        )}
        {!isOfTraces && (
          <ComboField
            label="By the label"
            spellCheck={false}
            placeholder="any"
            options={labels.map(({ label }) => label)}
            value={value.label}
            onChange={(label) => set({ label })}
          />
        )}
        <TextField
          label="Sampling rate, in %"
          type="number"
          min={0}
          max={100}
          step="any"
          required
          value={value.sampleRate}
          onChange={(sampleRate) => set({ sampleRate })}
        />
        <TextField
          label="Budget per day, in US dollars"
          type="number"
          min={0}
          step="any"
          placeholder="no limit"
          value={value.maxCost}
          onChange={(maxCost) => set({ maxCost })}
        />
      </div>
      <TextArea
        label="Conditions on scores"
        className="mono"
        rows={2}
        spellCheck={false}
        value={value.filter.scores}
        onChange={(scores) => set({ filter: { ...value.filter, scores } })}
        hint="One per line, all must hold: helpful=false, tone<0.5."
      />
      {others.length > 0 && (
        <p className="muted">
          Also: {others.map(([name, each]) => `${name} ${String(each)}`).join(', ')}. This part is unchanged.
        </p>
      )}
      <h3>Evaluators</h3>
      <p className="field-hint">Each evaluator is named after its score. There is no expected value to compare with.</p>
      <EvaluatorsForm value={value.evaluators} onChange={(evaluators) => set({ evaluators })} />
    </>
  );
}
