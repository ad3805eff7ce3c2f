import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Api, Pms } from 'pms-client';
import { type Context, confirm, connect, printJson, printLine, safeText } from '../context.ts';
import { definitionText, readDefinition } from '../definition-file.ts';
import { CliError, EXIT } from '../exit.ts';
import type { ExitStatus } from '../exit-status.ts';
import { decimal, given, wholeNumber } from '../options.ts';
import { formatTable } from '../table.ts';

interface BackfillOptions {
  since: string;
  until?: string;
  maxCost?: number;
  wait?: boolean;
  timeout?: number;
  json?: boolean;
}

const POLL_MS = 1_000;

/** How the end of a backfill is told by the status; one that is paused waits for somebody. */
const ENDS: Partial<Record<Api.Backfill['status'], ExitStatus>> = {
  completed: EXIT.passed,
  failed: EXIT.service,
  canceled: EXIT.usage,
  paused: EXIT.inconclusive,
};

function definitionOf(rule: Api.Rule): object {
  const { name, prompt_name, group, label, filter, sample_rate, evaluators, max_cost_per_day, enabled } = rule;
  return { name, prompt_name, group, label, filter, sample_rate, evaluators, max_cost_per_day, enabled };
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

/** @throws CliError where the time is up */
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
  rules
    .command('list')
    .description('list rules by name')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const all = await Array.fromAsync((await connect(context)).list('listRules'));
      if (json) {
        printJson(stdout, all);
        return;
      }
      const rows = all.map((rule) => {
        const { name, enabled, prompt_name, group, sample_rate, scored, failed, spent_today } = rule;
        const of = prompt_name ?? (group === null ? 'all' : `${group}/…`);
        return [name, enabled ? 'enabled' : 'disabled', of, sample_rate, scored, failed, `$${spent_today}`];
      });
      printLine(stdout, formatTable(['rule', '', 'prompts', 'share', 'scored', 'failed', 'spent today'], rows));
    });

  rules
    .command('get')
    .description('show a rule, as the YAML that pms rules set takes')
    .argument('<name>')
    .option('--json', 'its whole record as JSON')
    .action(async (name: string, { json }: { json?: boolean }) => {
      const rule = await (await connect(context)).call('getRule', { path: { name } });
      if (json) printJson(stdout, rule);
      else stdout.write(await definitionText(definitionOf(rule), countsOf(rule)));
    });

  rules
    .command('set')
    .description('create or replace a rule')
    .argument('<file>', 'YAML or JSON: the body of PUT /v1/rules/{name}, and its name')
    .option('--json', 'print JSON')
    .action(async (file: string, { json }: { json?: boolean }) => {
      // The service checks the rest, and names what is wrong.
      const { name, body } = await readDefinition<Api.PutRule>(file);
      const rule = await (await connect(context)).call('setRule', { path: { name }, body });
      if (json) printJson(stdout, rule);
      else printLine(stdout, safeText(`${rule.name} is set${rule.enabled ? '' : ', and disabled'}`));
    });

  rules
    .command('delete')
    .description('delete a rule and keep its scores')
    .argument('<name>')
    .option('-y, --yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(async (name: string, { yes, json }: { yes?: boolean; json?: boolean }) => {
      await confirm(context, `Delete the rule ${name}?`, yes);
      const rule = await (await connect(context)).call('deleteRule', { path: { name } });
      if (json) printJson(stdout, rule);
      else printLine(stdout, safeText(`Deleted ${rule.name}`));
    });

  rules
    .command('backfill')
    .description('score past executions')
    .argument('<name>', 'the rule')
    .requiredOption('--since <time>', 'ISO 8601 with a zone')
    .option('--until <time>', 'ISO 8601 with a zone; default: now')
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
