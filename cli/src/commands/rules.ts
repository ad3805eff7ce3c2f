import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Api, Pms } from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { definitionText } from '../definition-file.ts';
import { CliError, EXIT } from '../exit.ts';
import type { ExitStatus } from '../exit-status.ts';
import type { Columns } from '../lists.ts';
import { decimal, given, wholeNumber } from '../options.ts';
import { recordCommands } from '../record-commands.ts';

interface BackfillOptions {
  since: string;
  until?: string;
  maxCost?: number;
  wait?: boolean;
  timeout?: number;
  json?: boolean;
}

const POLL_MS = 1_000;

/** The exit status for each end of a backfill; a paused one waits for a person. */
const ENDS: Partial<Record<Api.Backfill['status'], ExitStatus>> = {
  completed: EXIT.passed,
  failed: EXIT.service,
  canceled: EXIT.usage,
  paused: EXIT.inconclusive,
};

const COLUMNS: Columns<Api.Rule> = {
  rule: ({ name }) => name,
  '': ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
  prompts: ({ prompt_name: prompt, group, trace_filter: traces }) =>
    traces !== null ? 'traces' : (prompt ?? (group === null ? 'all' : `${group}/…`)),
  share: ({ sample_rate: share }) => share,
  scored: ({ scored }) => scored,
  failed: ({ failed }) => failed,
  'spent today': ({ spent_today: spent }) => `$${spent}`,
};

function textOf(rule: Api.Rule): Promise<string> {
  const { name, prompt_name, group, label, filter, trace_filter, sample_rate, evaluators, max_cost_per_day, enabled } =
    rule;
  const definition = {
    name,
    prompt_name,
    group,
    label,
    filter,
    trace_filter,
    sample_rate,
    evaluators,
    max_cost_per_day,
    enabled,
  };
  return definitionText(definition, countsOf(rule));
}

function countsOf({ scored, failed, skipped, skipped_budget: budget, waiting, spent, ...rule }: Api.Rule): string[] {
  const { last_error: error, spent_today: today, max_cost_per_day: limit } = rule;
  const lines = [
    `scored ${scored}, failed ${failed}, skipped ${skipped}, over budget ${budget}${waiting === undefined ? '' : `, waiting ${waiting}`}`,
    `spent $${spent}, today $${today}${limit === null ? '' : ` of $${limit}`}`,
  ];
  return error === null ? lines : [...lines, `last error: ${error.code}: ${error.message} (${error.at})`];
}

function backfillText({ id, rule, status, status_reason: reason, progress, found, scored, ...others }: Api.Backfill) {
  const { failed, spent, max_cost: limit, last_error: error } = others;
  const percent = Math.floor(progress * 100);
  const why = reason === null ? '' : ` (${reason})`;
  const cost = `spent $${spent}${limit === null ? '' : ` of $${limit}`}`;
  const last = error === null ? '' : `; last error: ${error.code}: ${error.message}`;
  return safeText(
    `${id} of ${rule}: ${status}${why}, ${percent} %, found ${found}, scored ${scored}, failed ${failed}, ${cost}${last}`,
  );
}

/** @throws CliError after the timeout */
async function untilEnd(pms: Pms, started: Api.Backfill, timeoutSeconds = Number.POSITIVE_INFINITY) {
  const { id, rule } = started;
  const until = Date.now() + timeoutSeconds * 1000;
  let backfill = started;
  while (backfill.status === 'running') {
    if (Date.now() >= until) throw new CliError(EXIT.service, `Timed out; ${id} is still running`);
    await delay(Math.min(POLL_MS, Math.max(0, until - Date.now())));
    backfill = await pms.call('getBackfill', { path: { name: rule, id } });
  }
  return backfill;
}

/** `pms rules list|get|set|delete|backfill`. */
export function addRuleCommands(rules: Command, context: Context): void {
  const { stdout } = context;
  const records = recordCommands<Api.Rule>(rules, context, ['<name>']);
  records.list('list rules by name', (pms) => pms.list('listRules'), COLUMNS);
  records.get(
    'show a rule, as the YAML that pms rules set takes',
    (pms, name) => pms.call('getRule', { path: { name } }),
    { json: 'its whole record as JSON', text: textOf },
  );
  records.set<Api.PutRule>(
    'create or replace a rule',
    'YAML or JSON: the body of PUT /v1/rules/{name}, and its name',
    (pms, name, body) => pms.call('setRule', { path: { name }, body }),
    ({ name, enabled }) => `${name} is set${enabled ? '' : ', and disabled'}`,
  );
  records.delete(
    'delete a rule and keep its scores',
    (pms, name) => pms.call('deleteRule', { path: { name } }),
    (name) => `Delete the rule ${name}?`,
  );

  rules
    .command('backfill')
    .description('score past executions')
    .argument('<name>', 'the rule')
    .requiredOption('--since <time>', 'executions created at or after this time (ISO 8601 with a zone)')
    .option('--until <time>', 'executions created before this time (ISO 8601 with a zone; default: now)')
    .option('--max-cost <dollars>', 'maximum cost of its judges', decimal)
    .option(
      '--wait',
      'wait for the backfill to end; exit with 0 if completed, 2 if canceled, 3 if failed, 4 if paused, for example by its budget',
    )
    .option('--timeout <seconds>', 'maximum wait; the backfill continues after it', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (name: string, { since, until, maxCost, wait, timeout, json }: BackfillOptions) => {
      const pms = await connect(context);
      const body = { since, ...given({ until, max_cost: maxCost }) };
      const started = await pms.call('createBackfill', { path: { name }, body });
      const backfill = wait ? await untilEnd(pms, started, timeout) : started;
      if (json) printJson(stdout, backfill);
      else printLine(stdout, backfillText(backfill));
      const status = ENDS[backfill.status] ?? EXIT.passed;
      if (!wait || status === EXIT.passed) return;
      const reason = backfill.error?.message ?? backfill.status_reason ?? '';
      throw new CliError(status, safeText(`${backfill.id} is ${backfill.status}: ${reason}`));
    });
}
