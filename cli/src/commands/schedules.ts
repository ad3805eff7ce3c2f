import path from 'node:path';
import type { Command } from 'commander';
import type { Api } from 'pms-client';
import { type Context, connect } from '../context.ts';
import { type Columns, printDone } from '../lists.ts';
import { readObject } from '../object-file.ts';
import { given } from '../options.ts';
import { recordCommands } from '../record-commands.ts';

interface CreateOptions {
  cron: string;
  timeZone?: string;
  name?: string;
  paused?: boolean;
  json?: boolean;
}

const COLUMNS: Columns<Api.Schedule> = {
  schedule: ({ id }) => id,
  name: ({ name }) => name,
  cron: ({ cron, time_zone: zone }) => `${cron} ${zone}`,
  state: ({ paused }) => (paused ? 'paused' : 'active'),
  created: ({ created_at: at }) => at,
  'last error': ({ last_error: error }) => error?.message,
};

const CONTROLS = {
  pause: ['pauseSchedule', 'pause a schedule until it is resumed', 'is paused'],
  resume: ['resumeSchedule', 'resume a paused schedule', 'is resumed'],
  trigger: ['triggerSchedule', 'start an evaluation now', 'is triggered'],
} as const;

/** `pms schedules list|get|create|pause|resume|trigger|delete`. */
export function addScheduleCommands(schedules: Command, context: Context): void {
  const { stdout } = context;

  const records = recordCommands<Api.Schedule>(schedules, context, ['<id>', 'sched_…']);
  records.list('list schedules', (pms) => pms.list('listSchedules'), COLUMNS);
  records.get('show a schedule', (pms, id) => pms.call('getSchedule', { path: { id } }));

  schedules
    .command('create')
    .description('create a schedule that runs an evaluation regularly')
    .argument('<file>', 'YAML or JSON file with the fields of POST /evaluations, as for pms eval run')
    .requiredOption('--cron <expression>', 'cron expression such as "0 6 * * *"')
    .option('--time-zone <zone>', 'time zone of the expression, such as Europe/Berlin (default: UTC)')
    .option('--name <name>', 'name of the schedule (default: the file name without its extension)')
    .option('--paused', 'create the schedule paused')
    .option('--json', 'print JSON')
    .action(async (file: string, { cron, timeZone, name = path.parse(file).name, paused, json }: CreateOptions) => {
      // The service validates it and reports any problem.
      const evaluation = (await readObject(file, ': the body of POST /evaluations')) as Api.CreateEvaluation;
      const body = { name, cron, evaluation, ...given({ time_zone: timeZone, paused }) };
      const schedule = await (await connect(context)).call('createSchedule', { body });
      const { id, paused: isPaused, time_zone: zone } = schedule;
      printDone(stdout, schedule, json, `${id}: ${name}, ${cron} ${zone}${isPaused ? ', paused' : ''}`);
    });

  records.controls(CONTROLS, (pms, operation, id) => pms.call(operation, { path: { id } }));
  records.delete('delete a schedule and keep its evaluations', (pms, id) =>
    pms.call('deleteSchedule', { path: { id } }),
  );
}
