import { z } from 'zod';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { presentValues } from '../../services/monitors/change-state.ts';
import { getMonitor, listChanges, listMonitors } from '../../services/monitors/monitors.ts';
import { deleteMonitor, setMonitor } from '../../services/monitors/set-monitor.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { presentMonitor } from './presenter.ts';
import { changeSample, monitorSample, newMonitorSample } from './samples.ts';
import { ListQuery, Monitor, MonitorHistory, MonitorName, MonitorPage, MonitorParams, PutMonitor } from './schema.ts';

const tag = 'Monitors';

/** `/monitors`: standing analyses of what runs. */
export function monitorRoutes({ quotas }: { quotas: Quotas }): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/monitors',
      operationId: 'listMonitors',
      tag,
      summary: 'List monitors by name',
      scope: 'read',
      query: ListQuery,
      response: MonitorPage,
      responseExample: { data: [monitorSample], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const page = await listMonitors(db, limit, decodeCursor(cursor, MonitorName));
        return toPage(page, presentMonitor, ({ name }) => name);
      },
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
      path: '/monitors/{name}',
      operationId: 'getMonitor',
      tag,
      summary: 'Retrieve a monitor, its state and its latest measurements',
      scope: 'read',
      params: MonitorParams,
      response: Monitor,
      responseExample: monitorSample,
      handler: async ({ db, params }) => presentMonitor(await getMonitor(db.query, params.name)),
    }),
    defineRoute({
      method: 'put',
      path: '/monitors/{name}',
      operationId: 'setMonitor',
      audit: ['monitor.created', 'monitor.updated'],
      tag,
      summary: 'Create or replace a monitor',
      description:
        'Measures the runs that ended in its window, once a minute. Alerts and recoveries send the events `monitor.alerted` and ' +
        '`monitor.recovered` to webhooks that name them, and e-mails. Changing a monitor restarts it, which ends an alert; so does disabling it.',
      scope: 'write',
      shows: ['prompt_name', 'label', 'checks'],
      params: MonitorParams,
      body: PutMonitor,
      bodyExamples: { 'Errors and latency of a prompt': newMonitorSample },
      response: Monitor,
      responseExample: monitorSample,
      errors: ['quota_exceeded'],
      async handler({ db, params, body: { prompt_name: promptName = null, label = null, ...definition } }) {
        return presentMonitor(await setMonitor(db, quotas, params.name, { promptName, label, ...definition }));
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/monitors/{name}',
      operationId: 'deleteMonitor',
      audit: ['monitor.deleted'],
      tag,
      summary: 'Delete a monitor and its history, and end any alert',
      scope: 'write',
      params: MonitorParams,
      response: Monitor,
      responseExample: monitorSample,
      handler: async ({ db, params }) => presentMonitor(await deleteMonitor(db, params.name)),
    }),
  ];
}
