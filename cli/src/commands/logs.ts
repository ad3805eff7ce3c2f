import { type Command, Option } from 'commander';
import type { Api } from 'pms-client';
import { type Context, connect, printLine, safeText } from '../context.ts';
import { EXECUTION_STATUSES, type ExecutionOptions, executionQuery, moneyText, promptText } from '../execution-text.ts';
import { CliError, EXIT } from '../exit-status.ts';
import { follow } from '../follow.ts';
import { pageSize, take } from '../lists.ts';
import { wholeNumber } from '../options.ts';

interface LogOptions extends ExecutionOptions {
  status?: Api.Execution['status'];
  follow?: boolean;
  limit: number;
  json?: boolean;
}

const MAX_ERROR_CHARS = 300;
/** Executions that run longer than this are not reported. */
const LOOKBACK_MS = 10 * 60_000;

const ENDS: readonly string[] = ['completed', 'failed', 'canceled'];

function lineOf(execution: Api.Execution): string {
  const { id, status, model, created_at, finished_at, tokens, latency, error } = execution;
  const parts = [
    finished_at ?? created_at,
    status,
    id,
    promptText(execution),
    model,
    execution.tokens_unknown ? 'tokens unknown' : `${tokens.input}+${tokens.output} tokens`,
    moneyText(execution),
    latency.total_ms === null ? undefined : `${latency.total_ms} ms`,
    error === null ? undefined : `${error.code}: ${error.message}`.slice(0, MAX_ERROR_CHARS).replace(/\s+/g, ' '),
  ];
  return parts.filter((part) => part !== undefined).join('  ');
}

/** @throws CliError if it is not a time */
export function timeOf(text: string, option: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new CliError(EXIT.usage, `${option} ${text}: use a time such as 2026-01-01T00:00:00Z.`);
  return time;
}

/** `pms logs`. */
export function fillLogs(command: Command, context: Context): void {
  const { stdout } = context;
  command
    .option('--prompt <name>', 'only this prompt')
    .option('--group <group>', 'only prompts whose name starts with this and a /')
    .option('--label <label>', 'only executions that requested this label')
    .option('--model <model>', 'only this model')
    .addOption(new Option('--status <status>', 'only this status').choices(EXECUTION_STATUSES.slice(2)))
    .option('--since <time>', 'created at or after this time (ISO 8601 with a zone)')
    .option('-f, --follow', 'keep running and print executions as they end, until Ctrl-C')
    .option('-n, --limit <number>', 'maximum number of executions, newest first; not with --follow', wholeNumber, 20)
    .option('--json', 'print one JSON record per line')
    .action(async ({ status, follow: goesOn, limit, json, ...options }: LogOptions) => {
      const print = (execution: Api.Execution) =>
        printLine(stdout, json ? JSON.stringify(execution) : safeText(lineOf(execution)));
      const isWanted = (execution: Api.Execution) =>
        ENDS.includes(execution.status) && (status === undefined || status === execution.status);
      const from = options.since === undefined ? undefined : timeOf(options.since, '--since');
      if (goesOn) {
        const pms = await connect(context, Number.POSITIVE_INFINITY);
        const filter = executionQuery(options);
        const list = {
          read: (since: string | undefined) =>
            pms.list('listExecutions', { query: { ...filter, limit: 1000, ...(since !== undefined && { since }) } }),
          idOf: ({ id }: Api.Execution) => id,
          timeOf: ({ created_at: at }: Api.Execution) => at,
          isReady: (execution: Api.Execution) => ENDS.includes(execution.status),
          lookbackMs: LOOKBACK_MS,
        };
        for await (const execution of follow(list, from)) if (isWanted(execution)) print(execution);
        return;
      }
      const pms = await connect(context);
      const query = { ...executionQuery(options), ...(status !== undefined && { status }), limit: pageSize(limit) };
      const newest = await take(pms.list('listExecutions', { query }), limit);
      for (const execution of newest.reverse()) print(execution);
    });
}
