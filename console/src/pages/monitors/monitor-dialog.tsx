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
import { type CheckForm, formOf, fromUnit, type MonitorForm, newCheck, toPut } from './monitor-form-state.ts';
import { checkWords, metricWords, unitOf } from './state-badge.tsx';
import type { Monitor } from './types.ts';

const MAX_CHECKS = 10;
const SPAN_HINT = t('Such as 5m or 1h; from 1m to 24h.');
/** A metric that ends with a colon is followed by the name of a score. */
const METRICS = [
  'error_rate',
  'refusal_rate',
  'latency_p95',
  'cost_mean',
  'cost_total',
  'score:',
  'trace:error_rate',
  'trace:latency_p95',
  'trace:cost_mean',
  'trace:steps_mean',
  'trace:score:',
];
const kindOf = (metric: string) => METRICS.find((each) => each.endsWith(':') && metric.startsWith(each)) ?? metric;
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
  const kind = kindOf(check.metric);
  const hasName = kind.endsWith(':');
  const { unit } = unitOf(check.metric);
  return (
    <fieldset className="evaluator">
      <legend className="visually-hidden">Check {index + 1}</legend>
      <div className="filters">
        <SelectField
          label="Alerts when"
          path={hasName ? undefined : path('metric')}
          value={kind}
          // The values of another metric have another meaning.
          onChange={(metric) => set({ metric, threshold: '', recoverAt: '', minExecutions: '' })}
          options={[...new Set([...METRICS, kind])].map((value) => ({
            value,
            label: metricWords(value.replace(/score:$/, 'mean_score')),
          }))}
        />
        {hasName && (
          <TextField
            label="Name of the score"
            path={path('metric')}
            required
            spellCheck={false}
            value={check.metric.slice(kind.length)}
            onChange={(name) => set({ metric: `${kind}${name.trim()}` })}
          />
        )}
        <SelectField
          label="Is"
          value={check.side}
          onChange={(side) => set({ side: side === 'below' ? 'below' : 'above', recoverAt: '' })}
          options={SIDES}
        />
        <TextField
          label={unit === '' ? 'Threshold' : `Threshold, in ${unit}`}
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
          label={unit === '' ? 'Recovers at' : `Recovers at, in ${unit}`}
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
          Alerts when:{' '}
          {checkWords({ metric: check.metric, [check.side]: fromUnit(check.metric, check.threshold), for: check.for })}
        </p>
      )}
    </fieldset>
  );
}
