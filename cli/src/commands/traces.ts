import { type Command, Option } from 'commander';
import type { Api, Pms } from 'pms-client';
import { type Context, confirm, connect, printJson, printLine, safeText } from '../context.ts';
import { moneyText } from '../execution-text.ts';
import { CliError, EXIT } from '../exit-status.ts';
import { follow } from '../follow.ts';
import { type Columns, pageSize, printDone, printList, printRecord, take } from '../lists.ts';
import { collect, given, wholeNumber } from '../options.ts';
import { spanRequests } from '../span-requests.ts';
import { timeOf } from './logs.ts';

const ARMS = ['stable', 'candidate'] as const;
const STATUSES = ['running', 'ok', 'error'] as const;
/** Spans are sent after they end, and agents run for minutes. */
const LATE_MS = 10 * 60_000;

interface FilterOptions {
  name?: string;
  prompt?: string;
  model?: string;
  tool?: string;
  agent?: string;
  user?: string;
  conversation?: string;
  service?: string;
  environment?: string;
  release?: string;
  arm?: (typeof ARMS)[number];
  status?: Api.Trace['status'];
  metadata: string[];
  search?: string;
  since?: string;
}

/** Adds the options that filter traces. */
function addFilters(command: Command): Command {
  return command
    .option('--name <name>', 'only this name')
    .option('--prompt <name>', 'only traces that ran this prompt')
    .option('--model <model>', 'only traces that called this model')
    .option('--tool <tool>', 'only traces that called this tool')
    .option('--agent <agent>', 'only traces with this agent')
    .option('--user <id>', 'only this user')
    .option('--conversation <id>', 'only this conversation')
    .option('--service <service>', 'only this service')
    .option('--environment <environment>', 'only this environment')
    .option('--release <id>', 'only traces with executions of this release')
    .addOption(new Option('--arm <arm>', 'only traces with executions of this arm of a release').choices(ARMS))
    .addOption(new Option('--status <status>', 'only this status').choices(STATUSES))
    .option('--metadata <name=value>', 'only with this metadata; repeatable', collect, [])
    .option('--search <words>', 'words and quoted phrases in name, input or output')
    .option('--since <time>', 'started at or after this time (ISO 8601 with a zone)');
}

const queryOf = (options: FilterOptions) =>
  given({
    name: options.name,
    prompt_name: options.prompt,
    model: options.model,
    tool: options.tool,
    agent: options.agent,
    user_id: options.user,
    conversation_id: options.conversation,
    service: options.service,
    environment: options.environment,
    release: options.release,
    arm: options.arm,
    status: options.status,
    metadata: options.metadata.length > 0 ? options.metadata : undefined,
    q: options.search,
    since: options.since,
  });

const COLUMNS: Columns<Api.Trace> = {
  trace: ({ id }) => id,
  status: ({ status }) => status,
  name: ({ name }) => name,
  steps: ({ steps }) => steps,
  calls: ({ calls }) => calls,
  errors: ({ errors }) => errors,
  tokens: ({ tokens }) => tokens.total,
  cost: moneyText,
  ms: ({ duration_ms: ms }) => ms,
  conversation: ({ conversation_id: id }) => id,
  started: ({ started_at: at }) => at,
};

function lineOf(trace: Api.Trace): string {
  const { started_at, status, id, name, steps, calls, errors, tokens, duration_ms: ms } = trace;
  const parts = [
    started_at,
    status,
    id,
    name ?? undefined,
    `${steps} steps`,
    `${calls} calls`,
    errors > 0 ? `${errors} errors` : undefined,
    `${tokens.input}+${tokens.output} tokens`,
    moneyText(trace),
    ms === null ? undefined : `${ms} ms`,
  ];
  return parts.filter((part) => part !== undefined).join('  ');
}

/** The steps as an indented tree. A step without a known parent is at the top. */
function treeText(steps: readonly Api.TraceStep[]): string {
  const depths = new Map<string, number>();
  const lines = steps.map((step) => {
    const { id, parent_id: parent, type, name, status, duration_ms: ms, error } = step;
    const depth = (depths.get(parent ?? '') ?? -1) + 1;
    depths.set(id, depth);
    const parts = [
      `${'  '.repeat(depth)}${id}`,
      type,
      name,
      ms === null ? status : `${ms} ms`,
      moneyText(step),
      error === null ? undefined : `error: ${error.message ?? error.type ?? 'unknown'}`.replace(/\s+/g, ' '),
    ];
    return parts.filter((part) => part !== undefined).join('  ');
  });
  return lines.join('\n');
}

const stepsOf = (pms: Pms, id: string) =>
  Array.fromAsync(pms.list('listTraceSteps', { path: { id }, query: { limit: 10_000 } }));

/** `pms traces list|get|tail|push|delete`. */
export function addTraceCommands(traces: Command, context: Context): void {
  const { stdout, stderr } = context;

  addFilters(traces.command('list').description('list traces, newest first'))
    .option('--until <time>', 'started before this time (ISO 8601 with a zone)')
    .option('--limit <number>', 'maximum number to list', wholeNumber, 50)
    .option('--json', 'print JSON')
    .action(
      async ({ limit, json, until, ...options }: FilterOptions & { limit: number; json?: boolean; until?: string }) => {
        const pms = await connect(context);
        const query = { ...queryOf(options), ...given({ until }), limit: pageSize(limit) };
        printList(stdout, await take(pms.list('listTraces', { query }), limit), COLUMNS, json);
      },
    );

  traces
    .command('get')
    .description('show a trace with its steps as a tree')
    .argument('<id>', 'id of the trace: 32 hexadecimal digits')
    .option('--step <id>', 'show this step with its input, output and attributes instead')
    .option('--json', 'print JSON')
    .action(async (id: string, { step, json }: { step?: string; json?: boolean }) => {
      const pms = await connect(context);
      if (step !== undefined) {
        await printRecord(stdout, await pms.call('getTraceStep', { path: { id, span_id: step } }), json);
        return;
      }
      const [trace, steps] = await Promise.all([pms.call('getTrace', { path: { id } }), stepsOf(pms, id)]);
      if (json) printJson(stdout, { trace, steps });
      else {
        await printRecord(stdout, trace, false);
        printLine(stdout, `\n${safeText(treeText(steps))}`);
      }
    });

  addFilters(traces.command('tail').description('print traces as they end, until Ctrl-C'))
    .option('--json', 'print one JSON record per line')
    .action(async ({ json, ...options }: FilterOptions & { json?: boolean }) => {
      const from = options.since === undefined ? undefined : timeOf(options.since, '--since');
      const pms = await connect(context, Number.POSITIVE_INFINITY);
      const filter = queryOf(options);
      const list = {
        read: (since: string | undefined) =>
          pms.list('listTraces', { query: { ...filter, limit: 1000, ...given({ since }) } }),
        idOf: ({ id }: Api.Trace) => id,
        timeOf: ({ started_at: at }: Api.Trace) => at,
        isReady: ({ settled }: Api.Trace) => settled,
        lookbackMs: LATE_MS,
        lateMs: LATE_MS,
      };
      for await (const trace of follow(list, from))
        printLine(stdout, json ? JSON.stringify(trace) : safeText(lineOf(trace)));
    });

  traces
    .command('push')
    .description('send the spans in an OTLP/JSON file, optionally compressed with gzip')
    .argument(
      '<file>',
      'file with one request, or one request per line, as the file exporter of the OpenTelemetry Collector writes them',
    )
    .action(async (file: string) => {
      const pms = await connect(context);
      let sent = 0;
      let refused = 0;
      for await (const { body, spans } of spanRequests(file)) {
        const { partialSuccess } = await pms.call('ingestTraces', { body });
        sent += spans;
        refused += Number(partialSuccess?.rejectedSpans ?? 0);
        if (partialSuccess) printLine(stderr, safeText(partialSuccess.errorMessage));
      }
      printLine(stdout, `${sent - refused} spans stored`);
      if (refused > 0) throw new CliError(EXIT.usage, `${refused} spans were refused.`);
      if (sent === 0) throw new CliError(EXIT.usage, `${file}: has no spans.`);
    });

  traces
    .command('delete')
    .description('delete a trace with its steps and the executions recorded from them')
    .argument('<id>', 'id of the trace: 32 hexadecimal digits')
    .option('-y, --yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(async (id: string, { yes, json }: { yes?: boolean; json?: boolean }) => {
      const pms = await connect(context);
      await confirm(context, `Delete ${id}?`, yes);
      printDone(stdout, await pms.call('deleteTrace', { path: { id } }), json, `Deleted ${id}`);
    });
}
