import { z } from 'zod';
import { DELETE_ONE, type Declaration, event, type NotificationMail } from '../capability.ts';
import { monitorStates } from '../monitors/monitor-states.ts';

const MonitorData = z
  .strictObject({
    monitor: z.string().meta({ description: 'The name of the monitor.' }),
    prompt_name: z.string().nullable(),
    label: z.string().nullable(),
    state: z.enum(monitorStates.states),
    reason: z.string().meta({ description: 'The observation, or who ended the alert, in words.' }),
    values: z.array(
      z.strictObject({
        metric: z.string(),
        value: z.number().nullable(),
        count: z.int().meta({ description: 'The number of executions or scores measured.' }),
        alerting: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'MonitorEventData' });

const monitor = { monitor: 'support/errors', prompt_name: 'support/greeting', label: 'production' };

const mail: NotificationMail = ({ type, monitor: known }) => {
  const name = known ?? '{name}';
  return {
    subject: `The monitor ${name} ${type === 'monitor.alerted' ? 'alerts' : 'has recovered'}`,
    text: `Its measurements: GET /v1/monitors/${name}
Its history: GET /v1/monitors/${name}/history
No more e-mails: PUT /v1/monitors/${name} with "notify": {"email": false}`,
  };
};

export const monitors = {
  name: 'monitors',
  tags: { Monitors: 'Continuous checks of live runs, with alerts: errors, latency, cost, refusals and scores.' },
  audit: { 'monitor.created': 'monitor', 'monitor.updated': 'monitor', 'monitor.deleted': 'monitor' },
  auditedWhenFull: ['monitor.deleted'],
  events: {
    'monitor.alerted': event(MonitorData, {
      ...monitor,
      state: 'alerting',
      reason: 'error_rate 0.25 is above 0.1 (40 in 15 min)',
      values: [{ metric: 'error_rate', value: 0.25, count: 40, alerting: true }],
    }),
    'monitor.recovered': event(MonitorData, {
      ...monitor,
      state: 'ok',
      reason: 'error_rate 0.05 is back at 0.09 or better (60 in 15 min)',
      values: [{ metric: 'error_rate', value: 0.05, count: 60, alerting: false }],
    }),
  },
  quotas: {
    monitors: { setting: 'QUOTA_MONITORS', default: 100, what: 'monitors', remedy: DELETE_ONE, rows: 'monitors' },
  },
  notifications: { 'monitor.alerted': mail, 'monitor.recovered': mail },
  guides: { monitors: 'Monitors and alerts' },
} as const satisfies Declaration;
