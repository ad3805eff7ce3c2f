import { type Command, Option } from 'commander';
import type { Api } from 'pms-client';
import { type Context, confirm, connect } from '../context.ts';
import { EXECUTION_STATUSES, type ExecutionOptions, executionQuery, moneyText, promptText } from '../execution-text.ts';
import { type Columns, pageSize, printDone, printList, take } from '../lists.ts';
import { collect, wholeNumber } from '../options.ts';
import { recordCommands } from '../record-commands.ts';

interface ListOptions extends ExecutionOptions {
  status?: Api.Execution['status'];
  score: string[];
  until?: string;
  limit: number;
  json?: boolean;
}

const COLUMNS: Columns<Api.Execution> = {
  execution: ({ id }) => id,
  status: ({ status }) => status,
  prompt: promptText,
  model: ({ model }) => model,
  tokens: ({ tokens }) => tokens?.total,
  cost: moneyText,
  ms: ({ latency }) => latency.total_ms,
  created: ({ created_at }) => created_at,
};

/** `pms executions list|get|cancel|delete`. */
export function addExecutionCommands(executions: Command, context: Context): void {
  const { stdout } = context;

  executions
    .command('list')
    .description('list executions, newest first')
    .option('--prompt <name>', 'only this prompt')
    .option('--group <group>', 'only prompts whose name starts with this and a /')
    .option('--label <label>', 'only executions that requested this label')
    .option('--model <model>', 'only this model')
    .addOption(new Option('--status <status>', 'only this status').choices(EXECUTION_STATUSES))
    .option('--score <condition>', 'score condition such as "helpful<0.5"; repeatable', collect, [])
    .option('--since <time>', 'created at or after this time (ISO 8601 with a zone)')
    .option('--until <time>', 'created before this time (ISO 8601 with a zone)')
    .option('--limit <number>', 'maximum number to list', wholeNumber, 50)
    .option('--json', 'print JSON')
    .action(async ({ limit, json, status, score, until, ...options }: ListOptions) => {
      const pms = await connect(context);
      const query = {
        ...executionQuery(options),
        ...(status !== undefined && { status }),
        ...(until !== undefined && { until }),
        ...(score.length > 0 && { score }),
        limit: pageSize(limit),
      };
      printList(stdout, await take(pms.list('listExecutions', { query }), limit), COLUMNS, json);
    });

  const records = recordCommands<Api.Execution>(executions, context, ['<id>', 'exec_…']);
  records.get('show an execution: its output, tokens, cost and latency', (pms, id) =>
    pms.call('getExecution', { path: { id } }),
  );
  records.act(
    'cancel',
    'cancel an execution; its model is not called again',
    (pms, id) => pms.call('cancelExecution', { path: { id } }),
    (_, { id, status }) => `${id}: ${status}`,
  );

  executions
    .command('delete')
    .description('delete an execution with its input and output')
    .argument('<id>', 'exec_…')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (id: string, { yes }: { yes?: boolean }) => {
      const pms = await connect(context);
      await confirm(context, `Delete ${id}?`, yes);
      await pms.call('deleteExecution', { path: { id } });
      printDone(stdout, {}, false, `Deleted ${id}`);
    });
}
