import type { Command } from 'commander';
import type { Api } from 'pms-client';
import type { Context } from '../context.ts';
import { definitionText } from '../definition-file.ts';
import type { Columns } from '../lists.ts';
import { recordCommands } from '../record-commands.ts';

const COLUMNS: Columns<Api.Monitor> = {
  monitor: ({ name }) => name,
  state: ({ enabled, state }) => (enabled ? state : 'disabled'),
  since: ({ since }) => since,
  prompt: ({ prompt_name: prompt, label }) => `${prompt ?? 'all'}${label === null ? '' : ` @${label}`}`,
  values: ({ values }) => values.map(valueText).join('; '),
};

function valueText({ metric, value, count, alerting }: Api.MonitorValue): string {
  return `${metric}: ${value === null ? '–' : Number(value.toPrecision(6))} of ${count}${alerting ? ', alerting' : ''}`;
}

function textOf(monitor: Api.Monitor): Promise<string> {
  const { name, prompt_name, label, window, checks, notify, enabled } = monitor;
  const { state, since, values, last_checked_at: checked } = monitor;
  const seen = [`${state} since ${since}, last checked ${checked ?? 'never'}`, ...values.map(valueText)];
  return definitionText({ name, prompt_name, label, window, checks, notify, enabled }, seen);
}

/** `pms monitors list|get|set|delete`. */
export function addMonitorCommands(monitors: Command, context: Context): void {
  const records = recordCommands<Api.Monitor>(monitors, context, ['<name>']);
  records.list('list monitors by name', (pms) => pms.list('listMonitors'), COLUMNS);
  records.get(
    'show a monitor, as the YAML that pms monitors set takes',
    (pms, name) => pms.call('getMonitor', { path: { name } }),
    { json: 'print the full record as JSON', text: textOf },
  );
  records.set<Api.PutMonitor>(
    'create or replace a monitor',
    'YAML or JSON: name, and the body of PUT /v1/monitors/{name}',
    (pms, name, body) => pms.call('setMonitor', { path: { name }, body }),
    ({ name, enabled }) => `${name} is set${enabled ? '' : ', and disabled'}`,
  );
  records.delete(
    'delete a monitor and its history',
    (pms, name) => pms.call('deleteMonitor', { path: { name } }),
    (name) => `Delete the monitor ${name}?`,
  );
}
