export const newMonitorSample = {
  prompt_name: 'support/greeting',
  label: 'production',
  window: '15m',
  checks: [
    { metric: 'error_rate', above: 0.1 },
    { metric: 'latency_p95', above: 5000, recover_at: 4000, for: '5m' },
  ],
};

const values = [
  { metric: 'error_rate', value: 0.25, count: 40, alerting: true },
  { metric: 'latency_p95', value: 911.4, count: 30, alerting: false },
];

export const monitorSample = {
  name: 'support/errors',
  prompt_name: 'support/greeting',
  label: 'production',
  window: '15m',
  checks: [
    { metric: 'error_rate', above: 0.1, recover_at: 0.09, min_executions: 20, for: '2m' },
    { metric: 'latency_p95', above: 5000, recover_at: 4000, min_executions: 20, for: '5m' },
  ],
  notify: { email: true },
  enabled: true,
  state: 'alerting' as const,
  since: '2026-01-31T12:00:00.000Z',
  values,
  last_checked_at: '2026-01-31T12:04:00.000Z',
  created_at: '2026-01-30T09:00:00.000Z',
  updated_at: '2026-01-30T09:00:00.000Z',
};

export const numbersSample = {
  data: [
    { at: '2026-01-31T12:00:00.000Z', values: values.map(({ metric, value, count }) => ({ metric, value, count })) },
  ],
};

export const changeSample = {
  at: '2026-01-31T12:00:00.000Z',
  previous_state: 'ok' as const,
  state: 'alerting' as const,
  reason: 'error_rate 0.25 is above 0.1 (40 in 15 min)',
  values,
};
