import { type Command, Option } from 'commander';
import type { Api } from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { type Columns, pageSize, take } from '../lists.ts';
import { collect, decimal, given, wholeNumber } from '../options.ts';
import { recordCommands } from '../record-commands.ts';

interface AddOptions {
  prompt?: string;
  group?: string;
  label?: string;
  model?: string;
  status?: NonNullable<Api.ExecutionFilter['status']>;
  score: string[];
  since?: string;
  until?: string;
  sampleRate?: number;
  limit?: number;
  json?: boolean;
}

interface ShowOptions {
  items: number;
  state?: Api.QueueItem['state'];
  json?: boolean;
}

const COLUMNS: Columns<Api.Queue> = {
  queue: ({ name }) => name,
  scores: ({ score_names: scores }) => scores.join(', '),
  pending: ({ progress }) => progress.pending,
  leased: ({ progress }) => progress.leased,
  completed: ({ progress }) => progress.completed,
  skipped: ({ progress }) => progress.skipped,
};
const STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'];
/** Maximum number of ids that the service accepts per request. */
const MAX_IDS = 1_000;
const TRACE_ID = /^[0-9a-f]{32}$/i;

function print({ stdout }: Context, queue: Api.Queue): void {
  const { name, description, score_names: scores, filter, sample_rate: share, progress, full } = queue;
  const { pending, leased, completed, skipped } = progress;
  printLine(stdout, safeText(`${name}${description ? `: ${description}` : ''}`));
  printLine(stdout, safeText(`scores: ${scores.join(', ')}; reviewers of an item: ${queue.reviewers_per_item}`));
  if (filter !== null) printLine(stdout, safeText(`filter: ${JSON.stringify(filter)}, share ${share}`));
  if (queue.trace_filter !== null)
    printLine(stdout, safeText(`filter of traces: ${JSON.stringify(queue.trace_filter)}, share ${share}`));
  printLine(
    stdout,
    `pending ${pending}, leased ${leased}, completed ${completed}, skipped ${skipped}${full ? '; it is full' : ''}`,
  );
}

/** The body of a request that adds by filter. @throws CliError if there is no filter */
function byFilter({ prompt, sampleRate, limit, score, ...others }: Omit<AddOptions, 'json'>): Api.AddQueueItems {
  const filter = given({ prompt_name: prompt, ...others, score: score.length === 0 ? undefined : score });
  if (Object.keys(filter).length === 0)
    throw new CliError(EXIT.usage, 'Specify what to add: execution IDs, or a filter such as --prompt or --score.');
  return { filter, ...given({ sample_rate: sampleRate, limit }) };
}

/** `pms queues list|show|set|add|delete`. */
export function addQueueCommands(queues: Command, context: Context): void {
  const { stdout } = context;
  const records = recordCommands<Api.Queue>(queues, context, ['<name>']);
  records.list('list queues by name, with their progress', (pms) => pms.list('listQueues'), COLUMNS);

  queues
    .command('show')
    .description('show a queue, its progress and its items')
    .argument('<name>')
    .option('--items <number>', 'maximum number of items to list, oldest first', wholeNumber, 20)
    .addOption(
      new Option('--state <state>', 'only items of this state').choices(['pending', 'leased', 'completed', 'skipped']),
    )
    .option('--json', 'print the queue with its items as JSON')
    .action(async (name: string, { items: limit, state, json }: ShowOptions) => {
      const pms = await connect(context);
      const queue = await pms.call('getQueue', { path: { name } });
      const query = { limit: pageSize(limit), ...given({ state }) };
      const items = await take(pms.list('listQueueItems', { path: { name }, query }), limit);
      if (json) {
        printJson(stdout, { ...queue, items });
        return;
      }
      print(context, queue);
      for (const { id, state: is, subject } of items)
        printLine(stdout, safeText([id, is, ...Object.values(subject)].join('  ')));
    });

  records.set<Api.PutQueue>(
    'create or replace a queue',
    'YAML or JSON: the body of PUT /v1/queues/{name}, and its name',
    (pms, name, body) => pms.call('setQueue', { path: { name }, body }),
    ({ name }) => `${name} is set`,
  );
  records.delete(
    'delete a queue with its items; scores stay',
    (pms, name) => pms.call('deleteQueue', { path: { name } }),
    (name) => `Delete the queue ${name} with its items?`,
  );

  queues
    .command('add')
    .description('add executions or traces to a queue; those already in it are unchanged')
    .argument('<name>')
    .argument('[ids...]', 'IDs of executions (exec_…) or traces; otherwise the newest matches of a filter')
    .option('--prompt <name>', 'only this prompt')
    .option('--group <group>', 'only prompts whose name starts with this and a /')
    .option('--label <label>', 'only executions that requested this label')
    .option('--model <model>', 'only this model')
    .addOption(new Option('--status <status>', 'only this status').choices(STATUSES))
    .option('--score <condition>', 'such as "helpful<0.5"; repeatable', collect, [])
    .option('--since <time>', 'created at or after this time (ISO 8601 with a zone)')
    .option('--until <time>', 'created before this time (ISO 8601 with a zone)')
    .option('--sample-rate <share>', 'share of matches to add, from 0 to 1', decimal)
    .option('--limit <number>', 'maximum number', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (name: string, ids: string[], options: AddOptions) => {
      const { json, ...by } = options;
      if (ids.length > 0 && (by.score.length > 0 || Object.keys(by).length > 1))
        throw new CliError(EXIT.usage, 'Give IDs or a filter, not both.');
      const bodies: Api.AddQueueItems[] = ids.length === 0 ? [byFilter(by)] : [];
      const [traces, executions] = [ids.filter((id) => TRACE_ID.test(id)), ids.filter((id) => !TRACE_ID.test(id))];
      for (let at = 0; at < executions.length; at += MAX_IDS)
        bodies.push({ execution_ids: executions.slice(at, at + MAX_IDS) });
      for (let at = 0; at < traces.length; at += MAX_IDS)
        bodies.push({ traces: traces.slice(at, at + MAX_IDS).map((id) => ({ trace_id: id })) });
      const pms = await connect(context);
      const sum = { added: 0, present: 0 };
      for (const body of bodies) {
        const { added, present } = await pms.call('addQueueItems', { path: { name }, body });
        sum.added += added;
        sum.present += present;
      }
      if (json) printJson(stdout, sum);
      else printLine(stdout, `${sum.added} added, ${sum.present} already in the queue`);
    });
}
