import type { Command } from 'commander';
import type { Api } from 'pms-client';
import { type Context, confirm, connect, printJson, printLine, safeText } from '../context.ts';
import { definitionText, readDefinition } from '../definition-file.ts';
import { formatTable } from '../table.ts';

function definitionOf(monitor: Api.Monitor): object {
  const { name, prompt_name, label, window, checks, notify, enabled } = monitor;
  return { name, prompt_name, label, window, checks, notify, enabled };
}

function valueText({ metric, value, count, alerting }: Api.MonitorValue): string {
  return `${metric}: ${value === null ? '–' : Number(value.toPrecision(6))} of ${count}${alerting ? ', alerting' : ''}`;
}

/** `pms monitors list|get|set|delete`. */
export function addMonitorCommands(monitors: Command, context: Context): void {
  const { stdout } = context;
  monitors
    .command('list')
    .description('list monitors by name')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const all = await Array.fromAsync((await connect(context)).list('listMonitors'));
      if (json) {
        printJson(stdout, all);
        return;
      }
      const rows = all.map(({ name, enabled, state, since, prompt_name, label, values }) => {
        const of = `${prompt_name ?? 'all'}${label === null ? '' : ` @${label}`}`;
        return [name, enabled ? state : 'disabled', since, of, values.map(valueText).join('; ')];
      });
      printLine(stdout, formatTable(['monitor', 'state', 'since', 'prompt', 'values'], rows));
    });

  monitors
    .command('get')
    .description('show a monitor, as the YAML that pms monitors set takes')
    .argument('<name>')
    .option('--json', 'print the full record as JSON')
    .action(async (name: string, { json }: { json?: boolean }) => {
      const monitor = await (await connect(context)).call('getMonitor', { path: { name } });
      if (json) {
        printJson(stdout, monitor);
        return;
      }
      const { state, since, values, last_checked_at: checked } = monitor;
      const seen = [`${state} since ${since}, last checked ${checked ?? 'never'}`, ...values.map(valueText)];
      stdout.write(await definitionText(definitionOf(monitor), seen));
    });

  monitors
    .command('set')
    .description('create or replace a monitor')
    .argument('<file>', 'YAML or JSON: name, and the body of PUT /v1/monitors/{name}')
    .option('--json', 'print JSON')
    .action(async (file: string, { json }: { json?: boolean }) => {
      // The service checks the rest, and names what is wrong.
      const { name, body } = await readDefinition<Api.PutMonitor>(file);
      const monitor = await (await connect(context)).call('setMonitor', { path: { name }, body });
      if (json) printJson(stdout, monitor);
      else printLine(stdout, safeText(`${monitor.name} is set${monitor.enabled ? '' : ', and disabled'}`));
    });

  monitors
    .command('delete')
    .description('delete a monitor and its history')
    .argument('<name>')
    .option('-y, --yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(async (name: string, { yes, json }: { yes?: boolean; json?: boolean }) => {
      await confirm(context, `Delete the monitor ${name}?`, yes);
      const monitor = await (await connect(context)).call('deleteMonitor', { path: { name } });
      if (json) printJson(stdout, monitor);
      else printLine(stdout, safeText(`Deleted ${monitor.name}`));
    });
}
