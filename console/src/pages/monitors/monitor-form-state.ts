import { unitOf } from './state-badge.tsx';
import type { Monitor, PutMonitor } from './types.ts';

/** The raw input of a check; its numbers are in the unit of `unitOf`. */
export interface CheckForm {
  metric: string;
  side: 'above' | 'below';
  threshold: string;
  for: string;
  /** Empty for the default. */
  recoverAt: string;
  minExecutions: string;
}

/** The raw input of a monitor. */
export interface MonitorForm {
  name: string;
  /** Empty for all prompts. */
  prompt: string;
  /** Empty for any. */
  label: string;
  window: string;
  checks: CheckForm[];
  email: boolean;
}

export const newCheck = (): CheckForm => ({
  metric: 'error_rate',
  side: 'above',
  threshold: '10',
  for: '2m',
  recoverAt: '',
  minExecutions: '',
});

/** Without the error of a multiplication: 29 % is 0.29. */
const rounded = (number: number) => Number(number.toPrecision(12));
const toUnit = (metric: string, value: number) => String(rounded(value * unitOf(metric).scale));
/** A number as the API takes it. */
export const fromUnit = (metric: string, typed: string) => rounded(Number(typed) / unitOf(metric).scale);

export const formOf = (monitor: Monitor | undefined): MonitorForm => ({
  name: monitor?.name ?? '',
  prompt: monitor?.prompt_name ?? '',
  label: monitor?.label ?? '',
  window: monitor?.window ?? '15m',
  checks: monitor?.checks.map(checkFormOf) ?? [newCheck()],
  email: monitor?.notify.email ?? true,
});

const checkFormOf = (check: Monitor['checks'][number]): CheckForm => ({
  metric: check.metric,
  side: check.above === undefined ? 'below' : 'above',
  threshold: toUnit(check.metric, check.above ?? check.below ?? 0),
  for: check.for,
  recoverAt: toUnit(check.metric, check.recover_at),
  minExecutions: String(check.min_executions),
});

/** The body of `PUT /monitors/{name}`. */
export const toPut = (form: MonitorForm, enabled: boolean): PutMonitor => ({
  ...(form.prompt.trim() !== '' && { prompt_name: form.prompt.trim() }),
  ...(form.label.trim() !== '' && { label: form.label.trim() }),
  window: form.window.trim(),
  checks: form.checks.map(({ metric, side, threshold, for: span, recoverAt, minExecutions }) => ({
    metric: metric.trim() as PutMonitor['checks'][number]['metric'],
    [side]: fromUnit(metric, threshold),
    for: span.trim(),
    ...(recoverAt !== '' && { recover_at: fromUnit(metric, recoverAt) }),
    ...(minExecutions !== '' && { min_executions: Number(minExecutions) }),
  })),
  notify: { email: form.email },
  enabled,
});
