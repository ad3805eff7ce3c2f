import { z } from 'zod';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { presentValues } from '../../services/monitors/change-state.ts';
import { listChanges, MONITORS, type MonitorRow } from '../../services/monitors/monitors.ts';
import { readSeries } from '../../services/monitors/numbers.ts';
import { deleteMonitor, setMonitor } from '../../services/monitors/set-monitor.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { changeSample, monitorSample, newMonitorSample, numbersSample } from './samples.ts';
import {
  ListQuery,
  Monitor,
  MonitorHistory,
  MonitorName,
  MonitorNumbers,
  MonitorPage,
  MonitorParams,
  PutMonitor,
} from './schema.ts';

/** Presents a monitor. */
function presentMonitor(row: MonitorRow): z.input<typeof Monitor> {
  return {
    name: row.name,
    prompt_name: row.prompt_name,
    label: row.label,
    window: row.window,
    checks: row.checks,
    notify: row.notify,
    enabled: row.enabled,
    state: row.state,
    since: row.since.toISOString(),
    values: presentValues(row.checks, row.progress),
    last_checked_at: row.last_checked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

const tag = 'Monitors';

const routes = resource({
  tag: 'Monitors',
  path: '/monitors',
  name: 'Monitor',
  params: MonitorParams,
  cursor: MonitorName,
  response: Monitor,
  page: MonitorPage,
  sample: monitorSample,
  present: presentMonitor,
});

/** `/monitors`: standing analyses of executions. */
export function monitorRoutes({ quotas }: { quotas: Quotas }): Route[] {
  return [
    routes.list({
      summary: 'List monitors by name',
      query: ListQuery,
      read: ({ db, query: { limit } }, after) => MONITORS.list(db.query, limit, after),
    }),
    defineRoute({
      method: 'get',
      path: '/monitors/{name}/history',
      operationId: 'listMonitorHistory',
      tag,
      summary: 'List the state changes of a monitor, newest first',
      scope: 'read',
      params: MonitorParams,
      query: ListQuery,
      response: MonitorHistory,
      responseExample: { data: [changeSample], next_cursor: null },
      async handler({ db, params, query: { limit, cursor } }) {
        const { checks, page } = await listChanges(db, params.name, limit, decodeCursor(cursor, z.uuid()));
        return toPage(
          page,
          ({ created_at: at, previous_state, state, reason, progress }) => ({
            at: at.toISOString(),
            previous_state,
            state,
            reason,
            values: presentValues(checks, progress),
          }),
          ({ id }) => id,
        );
      },
    }),
    defineRoute({
      method: 'get',
      path: '/monitors/{name}/history/numbers',
      operationId: 'getMonitorNumbers',
      tag,
      summary: 'Retrieve what the checks of a monitor measure over time',
      description:
        'Up to 48 windows, which overlap, oldest first, up to the last measurement. Sums are kept for 25 hours: windows of a day cover the last hour.',
      scope: 'read',
      params: MonitorParams,
      response: MonitorNumbers,
      responseExample: numbersSample,
      async handler({ db, params }) {
        const monitor = await MONITORS.get(db.query, params);
        const points = await readSeries(db.heavy.query, monitor);
        return {
          data: points.map(({ at, values }) => ({
            at: at.toISOString(),
            values: values.map((measured, index) => ({ metric: monitor.checks[index]?.metric ?? '', ...measured })),
          })),
        };
      },
    }),
    routes.get({
      summary: 'Retrieve a monitor, its state and its latest measurements',
      read: ({ db, params }) => MONITORS.get(db.query, params),
    }),
    routes.put({
      summary: 'Create or replace a monitor',
      description:
        'Measures the runs that ended in its window, once a minute. Alerts and recoveries send the events `monitor.alerted` and ' +
        '`monitor.recovered` to webhooks that name them, and e-mails. Changing a monitor restarts it, which ends an alert; so does disabling it.',
      scope: 'write',
      audit: ['monitor.created', 'monitor.updated'],
      shows: ['prompt_name', 'label', 'checks'],
      body: PutMonitor,
      bodyExamples: { 'Errors and latency of a prompt': newMonitorSample },
      errors: ['quota_exceeded'],
      store: ({ db, params, body: { prompt_name: promptName = null, label = null, ...definition } }) =>
        setMonitor(db, quotas, params.name, { promptName, label, ...definition }),
    }),
    routes.delete({
      summary: 'Delete a monitor and its history, and end any alert',
      scope: 'write',
      audit: ['monitor.deleted'],
      remove: ({ db, params }) => deleteMonitor(db, params.name),
    }),
  ];
}
