import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, put } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/fields.tsx';
import { labelsQuery, replaceData, requireNew } from '../../queries.ts';
import { t } from '../../strings.ts';
import { namesQuery } from '../prompts/names-query.ts';
import { type CheckForm, formOf, type MonitorForm, newCheck, toPut } from './monitor-form-state.ts';
import { checkWords } from './state-badge.tsx';
import type { Monitor } from './types.ts';

const MAX_CHECKS = 10;
const SPAN_HINT = t('Such as 5m or 1h; from 1m to 24h.');
const METRICS = [
  { value: 'error_rate', detail: t('failed executions, 0–1') },
  { value: 'refusal_rate', detail: t('refused executions, 0–1') },
  { value: 'latency_p95', detail: t('95th percentile, ms') },
  { value: 'cost_mean', detail: t('US dollars for each execution') },
  { value: 'cost_total', detail: t('US dollars in the window') },
  { value: 'score:', detail: t('followed by the name of a score: its mean') },
  { value: 'trace:error_rate', detail: t('failed traces, 0–1') },
  { value: 'trace:latency_p95', detail: t('95th percentile of traces, ms') },
  { value: 'trace:cost_mean', detail: t('US dollars for each trace') },
  { value: 'trace:steps_mean', detail: t('steps of each trace') },
  { value: 'trace:score:', detail: t('followed by the name of a score of traces: its mean') },
];
const SIDES: { value: CheckForm['side']; label: string }[] = [
  { value: 'above', label: 'above' },
  { value: 'below', label: 'below' },
];

/** Creates or edits a monitor. */
export function MonitorDialog({ monitor, onClose }: { monitor?: Monitor; onClose: () => void }) {
  const [form, setForm] = useState(() => formOf(monitor));
  const client = useQueryClient();
  const navigate = useNavigate();
  const save = async () => {
    const name = form.name.trim();
    if (monitor === undefined)
      await requireNew(pathOf('monitors', name), t(`There is a monitor of the name “${name}” already.`));
    const saved = await put<Monitor>(pathOf('monitors', name), toPut(form, monitor?.enabled ?? true));
    replaceData(client, ['monitors', 'one', name], saved);
    await client.invalidateQueries({ queryKey: ['monitors'] });
    if (monitor === undefined) await navigate({ to: '/monitors/$', params: { _splat: name } });
  };
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={monitor === undefined ? 'New monitor' : `Change ${monitor.name}`}
      submitLabel={monitor === undefined ? 'Create' : 'Save'}
      onSubmit={save}
    >
      <Fields value={form} onChange={setForm} isNew={monitor === undefined} />
    </FormDialog>
  );
}

interface FieldsProps {
  value: MonitorForm;
  onChange: (value: MonitorForm) => void;
  isNew: boolean;
}

function Fields({ value, onChange, isNew }: FieldsProps) {
  const names = useQuery(namesQuery).data ?? [];
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const set = (part: Partial<MonitorForm>) => onChange({ ...value, ...part });
  const { checks } = value;
  return (
    <>
      {isNew && (
        <TextField
          label="Name of the monitor"
          path="name"
          required
          spellCheck={false}
          placeholder="support/errors"
          translate="no"
          value={value.name}
          onChange={(name) => set({ name })}
        />
      )}
      <div className="filters">
        <ComboField
          label="Executions of the prompt"
          path="prompt_name"
          spellCheck={false}
          placeholder="all prompts"
          options={names}
          value={value.prompt}
          onChange={(prompt) => set({ prompt })}
        />
        <ComboField
          label="By the label"
          path="label"
          spellCheck={false}
          placeholder="any"
          options={labels.map(({ label }) => label)}
          value={value.label}
          onChange={(label) => set({ label })}
        />
        <TextField
          label="Window"
          path="window"
          required
          spellCheck={false}
          title={SPAN_HINT}
          value={value.window}
          onChange={(window) => set({ window })}
        />
      </div>
      {checks.map((check, index) => (
        <CheckFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a check has no id
          key={index}
          check={check}
          index={index}
          onChange={(changed) => set({ checks: checks.with(index, changed) })}
          onRemove={checks.length > 1 ? () => set({ checks: checks.toSpliced(index, 1) }) : undefined}
        />
      ))}
      {checks.length < MAX_CHECKS && (
        <div>
          <Button look="small" onClick={() => set({ checks: [...checks, newCheck()] })}>
            Add a check
          </Button>
        </div>
      )}
      <CheckField
        label="Send e-mails to the owner of the workspace"
        checked={value.email}
        onChange={(email) => set({ email })}
      />
      <p className="field-hint">
        <Link to="/webhooks">Webhooks</Link> with the event types <code>monitor.alerted</code> and{' '}
        <code>monitor.recovered</code> are notified, too.
      </p>
    </>
  );
}

function CheckFields({
  check,
  index,
  onChange,
  onRemove,
}: {
  check: CheckForm;
  index: number;
  onChange: (check: CheckForm) => void;
  onRemove: (() => void) | undefined;
}) {
  const set = (part: Partial<CheckForm>) => onChange({ ...check, ...part });
  const path = (name: string) => `checks.${index}.${name}`;
  return (
    <fieldset className="evaluator">
      <legend className="visually-hidden">Check {index + 1}</legend>
      <div className="filters">
        <ComboField
          label="Alerts when"
          path={path('metric')}
          required
          spellCheck={false}
          options={METRICS}
          value={check.metric}
          // The values of another metric have another meaning.
          onChange={(metric) => set({ metric, recoverAt: '', minExecutions: '' })}
        />
        <SelectField
          label="Is"
          value={check.side}
          onChange={(side) => set({ side: side === 'below' ? 'below' : 'above', recoverAt: '' })}
          options={SIDES}
        />
        <TextField
          label="Threshold"
          path={path(check.side)}
          type="number"
          step="any"
          required
          value={check.threshold}
          onChange={(threshold) => set({ threshold, recoverAt: '' })}
        />
        <TextField
          label="For"
          path={path('for')}
          required
          spellCheck={false}
          title={SPAN_HINT}
          value={check.for}
          onChange={(span) => set({ for: span })}
        />
        <TextField
          label="Recovers at"
          path={path('recover_at')}
          type="number"
          step="any"
          placeholder="a tenth better"
          value={check.recoverAt}
          onChange={(recoverAt) => set({ recoverAt })}
        />
        <TextField
          label="Executions at least"
          path={path('min_executions')}
          type="number"
          step={1}
          placeholder="20"
          value={check.minExecutions}
          onChange={(minExecutions) => set({ minExecutions })}
        />
        {onRemove && (
          <Button onClick={onRemove}>
            Remove<span className="visually-hidden"> check {index + 1}</span>
          </Button>
        )}
      </div>
      {check.threshold !== '' && (
        <p className="field-hint">
          Alerts when: {checkWords({ metric: check.metric, [check.side]: Number(check.threshold), for: check.for })}
        </p>
      )}
    </fieldset>
  );
}
