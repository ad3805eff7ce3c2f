import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Api, Pms } from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import type { ExitStatus } from '../exit-status.ts';
import { type Columns, printDone, printList } from '../lists.ts';
import { readObject } from '../object-file.ts';
import { decimal, given, wholeNumber } from '../options.ts';
import { recordCommands } from '../record-commands.ts';

interface WaitOptions {
  wait?: boolean;
  timeout?: number;
  json?: boolean;
}

interface SuggestOptions {
  model: string;
  evaluation?: string;
  execution?: string[];
  instructions?: string;
  json?: boolean;
}

interface AcceptOptions {
  candidate?: number;
  unproved?: boolean;
  baseChanged?: boolean;
  release?: string;
  reason?: string;
  json?: boolean;
}

const ENDED = new Set(['completed', 'failed', 'canceled']);
const POLL_MS = 2_000;

const COLUMNS: Columns<Api.Improvement> = {
  improvement: ({ id }) => id,
  prompt: ({ prompt_name: name, prompt_version: version }) => `${name} ${version}`,
  status: ({ status, phase }) => (status === 'running' ? `${status}: ${phase}` : status),
  result: ({ verdict }) => verdict?.result,
  spent: ({ spent }) => `$${spent.cost.toFixed(4)}`,
  created: ({ created_at: at }) => at,
};

const CANDIDATES: Columns<Api.ImprovementCandidate> = {
  candidate: ({ number }) => number,
  parent: ({ parent }) => parent,
  kind: ({ kind }) => kind,
  status: ({ status, reject }) => (reject === null ? status : `${status}: ${reject.code}`),
  check: ({ check }) => check?.score,
  change: ({ change }) => change,
};

const CONTROLS = {
  pause: ['pauseImprovement', 'pause a search until it is resumed', 'is paused'],
  finish: ['finishImprovement', 'end a search now and test its best candidate', 'is finishing'],
  cancel: ['cancelImprovement', 'cancel a search without a verdict', 'is canceled'],
  retry: ['retryImprovement', 'continue a failed search', 'continues'],
} as const;

const addWaitOptions = (command: Command): Command =>
  command
    .option('--wait', 'wait for the end; exit with 0 if an improvement is proved, 1 if none is, 2 otherwise')
    .option('--timeout <seconds>', 'maximum wait; the search continues after it', wholeNumber)
    .option('--json', 'print JSON');

/** The body of a request in a file. */
const bodyOf = async (file: string) =>
  (await readObject(file, ': the body of POST /improvements')) as Api.CreateImprovement;

function print({ stdout }: Context, improvement: Api.Improvement, json: boolean | undefined): void {
  if (json) {
    printJson(stdout, improvement);
    return;
  }
  const { id, prompt_name: name, prompt_version: version, status, status_reason: reason, phase, error } = improvement;
  const { base, best, spent, proposals, verdict, accepted } = improvement;
  printLine(stdout, `${id}: ${name}, version ${version}`);
  printLine(
    stdout,
    `$${spent.cost.toFixed(4)} spent, ${spent.calls} calls, ${spent.reflections} reflections, ${proposals.made} proposals`,
  );
  if (base.check !== null)
    printLine(stdout, `base: ${base.check}${best === null ? '' : `, candidate ${best.number}: ${best.check}`}`);
  if (verdict !== null) printLine(stdout, safeText(`${verdict.result}: ${verdict.note}`));
  if (accepted !== null) printLine(stdout, `accepted as version ${accepted.version}`);
  const why = error?.message ?? reason;
  printLine(stdout, safeText(`${status}${status === 'running' ? `: ${phase}` : ''}${why ? `: ${why}` : ''}`));
}

/** @throws CliError after the timeout */
async function untilEnd(pms: Pms, started: Api.Improvement, timeoutSeconds = Number.POSITIVE_INFINITY) {
  const until = Date.now() + timeoutSeconds * 1000;
  const { id } = started;
  for (let found = started; ; found = await pms.call('getImprovement', { path: { id } })) {
    if (ENDED.has(found.status) || found.status === 'paused') return found;
    if (Date.now() >= until)
      throw new CliError(EXIT.service, `Timed out; ${id} is still running: pms improve status ${id} --wait`);
    await delay(Math.min(POLL_MS, Math.max(0, until - Date.now())));
  }
}

function endOf({ status, verdict }: Api.Improvement): ExitStatus {
  if (status !== 'completed') return EXIT.usage;
  return verdict?.result === 'improvement' ? EXIT.passed : EXIT.failed;
}

/** Prints a search, after waiting for its end if requested, and exits with its result. */
async function conclude(context: Context, pms: Pms, started: Api.Improvement, options: WaitOptions): Promise<void> {
  const found = options.wait ? await untilEnd(pms, started, options.timeout) : started;
  print(context, found, options.json);
  const status = options.wait ? endOf(found) : EXIT.passed;
  if (status !== EXIT.passed)
    throw new CliError(status, `${found.id}: ${found.verdict?.result ?? found.status}, no improvement is proved.`);
}

/** `pms improve start|estimate|suggest|list|status|candidates|pause|resume|finish|cancel|retry|accept|delete`. */
export function addImprovementCommands(improve: Command, context: Context): void {
  const { stdout } = context;
  const records = recordCommands<Api.Improvement>(improve, context, ['<id>', 'imp_…']);
  const FILE = ['<file>', 'YAML or JSON file with the fields of POST /improvements'] as const;

  addWaitOptions(
    improve
      .command('start')
      .description('search for a better version of a prompt')
      .argument(...FILE),
  ).action(async (file: string, options: WaitOptions) => {
    const body = await bodyOf(file);
    const pms = await connect(context);
    await conclude(context, pms, await pms.call('createImprovement', { body }), options);
  });

  improve
    .command('estimate')
    .description('show what a search would cost, and what its examples can prove')
    .argument(...FILE)
    .option('--json', 'print JSON')
    .action(async (file: string, { json }: { json?: boolean }) => {
      const body = await bodyOf(file);
      const estimate = await (await connect(context)).call('estimateImprovement', { body });
      if (json) {
        printJson(stdout, estimate);
        return;
      }
      const { split, held_out: proof, calls, reflections, cost, warnings } = estimate;
      printLine(
        stdout,
        `examples: ${split.train} to learn from, ${split.check} to choose by, ${split.held_out} held out`,
      );
      printLine(stdout, `calls: ${calls.expected} expected, at most ${calls.most}; at most ${reflections} reflections`);
      printLine(stdout, cost === null ? 'cost: unknown' : `cost: $${cost.expected} expected, at most $${cost.most}`);
      if (proof.least_provable !== null) printLine(stdout, `smallest provable gain: ${proof.least_provable}`);
      for (const warning of warnings) printLine(stdout, safeText(`warning: ${warning}`));
    });

  improve
    .command('suggest')
    .description('print a rewritten prompt from failing examples, with one call and without measuring it')
    .argument('<prompt>', 'name of the prompt')
    .requiredOption('--model <name>', 'model that writes it')
    .option('--evaluation <id>', 'learn from the worst results of this evaluation')
    .option('--execution <id...>', 'learn from these executions')
    .option('--instructions <text>', 'instructions that the new text must follow')
    .option('--json', 'print JSON')
    .action(async (name: string, { model, evaluation, execution, instructions, json }: SuggestOptions) => {
      const body = {
        prompt_name: name,
        model,
        ...given({ evaluation_id: evaluation, execution_ids: execution, instructions }),
      };
      const found = await (await connect(context)).call('suggestPrompt', { body });
      const { content, reject, change, status } = found;
      if (json) printJson(stdout, found);
      else if (content !== null) {
        if (change !== null) printLine(stdout, safeText(change));
        printJson(stdout, content.template ?? content.messages);
      }
      if (content === null)
        throw new CliError(
          EXIT.failed,
          reject === null ? `no suggestion: the call is ${status}` : `rejected: ${reject.message}`,
        );
    });

  records.list('list searches, newest first', (pms) => pms.list('listImprovements'), COLUMNS);

  addWaitOptions(improve.command('status').description('show a search').argument('<id>', 'imp_…')).action(
    async (id: string, options: WaitOptions) => {
      const pms = await connect(context);
      await conclude(context, pms, await pms.call('getImprovement', { path: { id } }), options);
    },
  );

  improve
    .command('candidates')
    .description('list the rewritten prompts of a search')
    .argument('<id>', 'imp_…')
    .option('--json', 'print JSON, with their texts')
    .action(async (id: string, { json }: { json?: boolean }) => {
      const found = (await connect(context)).list('listImprovementCandidates', { path: { id } });
      printList(stdout, await Array.fromAsync(found), CANDIDATES, json);
    });

  records.controls(CONTROLS, (pms, operation, id) => pms.call(operation, { path: { id } }));

  improve
    .command('resume')
    .description('resume a paused search')
    .argument('<id>', 'imp_…')
    .option('--max-cost <usd>', 'a higher limit in US dollars', decimal)
    .option('--json', 'print JSON')
    .action(async (id: string, { maxCost, json }: { maxCost?: number; json?: boolean }) => {
      const body = given({ max_cost: maxCost });
      const resumed = await (await connect(context)).call('resumeImprovement', { path: { id }, body });
      printDone(stdout, resumed, json, `${id} is resumed`);
    });

  improve
    .command('accept')
    .description('create a version from a candidate')
    .argument('<id>', 'imp_…')
    .option('--candidate <number>', 'the candidate (default: the one of the verdict)', wholeNumber)
    .option('--unproved', 'also a candidate that is not proved to be better')
    .option('--base-changed', 'also if the prompt has newer versions, whose changes it does not have')
    .option('--release <label>', 'start a release of the version on this label')
    .option('--reason <text>', 'why, for the release')
    .option('--json', 'print JSON')
    .action(async (id: string, { candidate, unproved, baseChanged, release: label, reason, json }: AcceptOptions) => {
      const release = label === undefined ? undefined : { label, ...given({ reason }) };
      const body = given({ candidate, unproved, base_changed: baseChanged, release });
      const found = await (await connect(context)).call('acceptImprovement', { path: { id }, body });
      const { version, release_id: started } = found.accepted ?? {};
      printDone(
        stdout,
        found,
        json,
        `Created version ${version} of ${found.prompt_name}${started ? `, ${started}` : ''}`,
      );
    });

  records.delete('delete an ended search with its candidates and evaluations', (pms, id) =>
    pms.call('deleteImprovement', { path: { id } }),
  );
}
