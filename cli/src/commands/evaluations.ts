import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { Api, Pms } from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { savedText } from '../evaluations/batches.ts';
import { definitionsIn, isFolder, runAll, verdictOnAll } from '../evaluations/folder.ts';
import { nameOfRun, REPORTS, type Report, type ReportedRun } from '../evaluations/reports.ts';
import { comparisonVerdict, type Gates, isAtRest, scoreText, type Verdict, verdictOf } from '../evaluations/verdict.ts';
import { watchEvaluation } from '../evaluations/watch.ts';
import { CliError, EXIT } from '../exit.ts';
import { readObject } from '../object-file.ts';
import { collect, decimal, given, wholeNumber } from '../options.ts';
import { readLocalPrompts } from '../prompt-files/local-prompts.ts';
import { draftOf } from '../prompt-files/plan-push.ts';

interface GateOptions extends Gates {
  significant?: boolean;
  report: string[];
  timeout?: number;
  json?: boolean;
}

interface RunOptions extends GateOptions {
  name?: string;
  prompt?: string;
  label?: string;
  version?: number;
  dataset?: string;
  last?: number;
  trace?: string;
  execution: string[];
  evaluator: string[];
  threshold?: number;
  baseline?: string;
  maxCost?: number;
  mode?: Api.CreateEvaluation['mode'];
  maxWait?: string;
  leftovers?: string;
  draft?: string;
  wait?: boolean;
}

/** The options that decide whether a run passes. */
function addGateOptions(command: Command): Command {
  return command
    .option(
      '--max-regressions <number>',
      'fail if more than this many examples are worse than in the baseline',
      wholeNumber,
    )
    .option('--significant', 'fail if the run is worse than the baseline by more than noise')
    .option('--report <format=file>', `write a report as junit, markdown or json; repeatable`, collect, [])
    .option('--timeout <seconds>', 'maximum wait; the run continues after it', wholeNumber)
    .option('--json', 'print JSON');
}

/** @throws CliError before any run */
function reportsOf(report: string[]): [file: string, format: Report][] {
  return report.map((text) => {
    const cut = text.indexOf('=');
    const format = Object.hasOwn(REPORTS, text.slice(0, Math.max(0, cut))) ? REPORTS[text.slice(0, cut)] : undefined;
    const file = text.slice(cut + 1);
    if (format === undefined || file === '')
      throw new CliError(EXIT.usage, `--report ${text}: use a format and a file, such as junit=report.xml`);
    return [file, format];
  });
}

/** Combines `batch` from the file with the command line, which takes precedence. */
function batchOf(fromFile: object, { maxWait, leftovers }: RunOptions): object | undefined {
  if (maxWait === undefined && leftovers === undefined) return undefined;
  const before = 'batch' in fromFile && typeof fromFile.batch === 'object' ? fromFile.batch : {};
  return { ...before, ...given({ max_wait: maxWait, then: leftovers }) };
}

/** Sets the secret of scorers without one, because files under version control contain none. */
function withSecrets(body: { evaluators?: unknown }, secret: string | undefined): object {
  if (!secret || !Array.isArray(body.evaluators)) return body;
  const isOpen = (each: unknown) =>
    typeof each === 'object' && each !== null && 'type' in each && each.type === 'http' && !('secret' in each);
  return { ...body, evaluators: body.evaluators.map((each) => (isOpen(each) ? { ...each, secret } : each)) };
}

/**
 * Replaces the version by the content of a prompt file.
 * @param place a prompt file, or a folder that contains the prompt's file
 * @throws CliError if it is missing or invalid
 */
async function withDraft(body: object, place: string): Promise<object> {
  const { prompts, broken } = await readLocalPrompts([place]);
  if (broken.length > 0) throw new CliError(EXIT.usage, broken.map(({ message }) => message).join('\n'));
  const names = prompts.map(({ prompt }) => prompt.name);
  const name = 'prompt_name' in body ? body.prompt_name : names.length === 1 ? names[0] : undefined;
  const local = prompts.find(({ prompt }) => prompt.name === name);
  if (local === undefined)
    throw new CliError(
      EXIT.usage,
      name === undefined
        ? `${place} has several prompts: name one of them with --prompt.`
        : `${place} has no prompt ${typeof name === 'string' ? name : JSON.stringify(name)}. It has: ${names.join(', ')}.`,
    );
  if ('version' in body || 'label' in body)
    throw new CliError(EXIT.usage, '--draft replaces the version: omit version and label.');
  return { ...body, prompt_name: name, draft: draftOf(local) };
}

/** The executions to run again: those of the file with what the options name. */
function executionsOf(fromFile: object, { last, trace, execution }: RunOptions): object | undefined {
  const named = given({
    limit: last,
    trace_id: trace,
    execution_ids: execution.length === 0 ? undefined : execution,
  });
  if (Object.keys(named).length === 0) return undefined;
  const before = 'executions' in fromFile && typeof fromFile.executions === 'object' ? fromFile.executions : {};
  return { ...before, ...named };
}

/** The body of `POST /evaluations`: the file, overridden by the command line. */
async function bodyOf(
  file: string | undefined,
  options: RunOptions,
  { env }: Pick<Context, 'env'>,
): Promise<Api.CreateEvaluation> {
  const fromFile = file === undefined ? {} : await readObject(file, ': the body of POST /evaluations');
  const { name, prompt, label, version, dataset, evaluator, threshold, baseline, maxCost, mode } = options;
  const fromOptions = {
    name,
    prompt_name: prompt,
    label,
    version,
    dataset,
    executions: executionsOf(fromFile, options),
    evaluators: evaluator.length === 0 ? undefined : evaluator.map((type) => ({ type })),
    threshold,
    baseline: baseline === 'none' ? null : baseline,
    max_cost: maxCost,
    mode,
    batch: batchOf(fromFile, options),
  };
  const over = Object.entries(fromOptions).filter(([, value]) => value !== undefined);
  const merged = withSecrets({ ...fromFile, ...Object.fromEntries(over) }, env['SCORER_SECRET']);
  const body: object = options.draft === undefined ? merged : await withDraft(merged, options.draft);
  if (!('prompt_name' in body))
    throw new CliError(
      EXIT.usage,
      `${file === undefined ? '' : `${file}: `}No prompt given: pass --prompt or a file that names one.`,
    );
  // The service validates the rest, and names the field.
  return body as Api.CreateEvaluation;
}

/** Judges a run at rest, with its results if a report needs them. */
async function judge(
  pms: Pms,
  evaluation: Api.Evaluation,
  { significant, report, maxRegressions }: GateOptions,
): Promise<ReportedRun> {
  const { id, baseline_id: baseline, status } = evaluation;
  const comparison =
    significant && baseline !== null && status === 'completed'
      ? await pms.call('compareEvaluations', { path: { id, other: baseline } })
      : undefined;
  const verdict = verdictOf(evaluation, { maxRegressions }, comparison);
  const results =
    report.length === 0
      ? []
      : await Array.fromAsync(pms.list('listEvaluationResults', { path: { id }, query: { limit: 1000 } }));
  return { evaluation, verdict, comparison, results };
}

/** Judges a run at rest, writes the reports, prints the verdict, and exits with its status. */
async function conclude(
  pms: Pms,
  evaluation: Api.Evaluation,
  options: GateOptions,
  { stdout }: Context,
): Promise<void> {
  const { json } = options;
  const { id } = evaluation;
  const run = await judge(pms, evaluation, options);
  const { verdict, comparison } = run;
  for (const [file, { ofRun }] of reportsOf(options.report)) await writeFile(file, ofRun(run));
  if (json) printJson(stdout, { verdict, evaluation, ...(comparison && { comparison }) });
  else {
    const { examples_evaluated: done, examples_total: total } = evaluation;
    const { regressions, improvements, cost } = evaluation;
    printLine(stdout, `${id}: ${nameOfRun(evaluation)}, ${done} of ${total} examples`);
    printLine(
      stdout,
      `score ${scoreText(evaluation.score)}, worse ${regressions ?? '–'}, better ${improvements ?? '–'}, cost ${cost.amount === null ? 'unknown' : `$${cost.amount}`}${savedText(evaluation)}`,
    );
  }
  end(verdict, stdout, json);
}

function end(verdict: Verdict, stdout: Context['stdout'], json: boolean | undefined): void {
  const text = safeText(`${verdict.word}: ${verdict.reasons.join(' ')}`);
  if (verdict.status !== EXIT.passed) throw new CliError(verdict.status, text);
  if (!json) printLine(stdout, text);
}

/** Runs all definitions of a folder, and exits with their combined verdict. */
async function runFolder(folder: string, options: RunOptions, context: Context): Promise<void> {
  const { stdout } = context;
  const { json, wait, timeout, report } = options;
  const definitions = new Map<string, Api.CreateEvaluation>();
  for (const file of await definitionsIn(folder)) definitions.set(file, await bodyOf(file, options, context));
  const pms = await connect(context);
  if (!wait) {
    const created: Api.Evaluation[] = [];
    for (const body of definitions.values()) {
      const evaluation = await pms.call('createEvaluation', { body });
      created.push(evaluation);
      if (!json) printLine(stdout, evaluation.id);
    }
    if (json) printJson(stdout, created);
    return;
  }
  const runs = await runAll(pms, definitions, (evaluation) => judge(pms, evaluation, options), context, timeout);
  const verdict = verdictOnAll(runs);
  for (const [file, { ofFolder }] of reportsOf(report)) await writeFile(file, ofFolder(folder, runs, verdict));
  if (json) {
    const evaluations = runs.map(({ file, verdict: own, run }) => {
      return {
        file,
        verdict: own,
        evaluation: run?.evaluation ?? null,
        ...(run?.comparison && { comparison: run.comparison }),
      };
    });
    printJson(stdout, { verdict, evaluations });
  } else
    for (const { file, verdict: own } of runs)
      printLine(stdout, safeText(`${file}: ${own.word}: ${own.reasons.join(' ')}`));
  end(verdict, stdout, json);
}

/** `pms eval run|compare|watch`. */
export function addEvaluationCommands(evaluations: Command, context: Context): void {
  addGateOptions(
    evaluations
      .command('run')
      .description('run a prompt over examples and score its outputs')
      .argument(
        '[file]',
        'YAML or JSON file with the fields of POST /evaluations, which options override; or a folder of such files, with one verdict',
      )
      .option('--name <text>', 'title of the run')
      .option('--prompt <name>', 'only evaluations of this prompt')
      .option('--label <label>', 'run the version with this label')
      .option('--version <number>', 'run this version', wholeNumber)
      .option('--draft <place>', 'evaluate prompt files, or those of a folder, without making versions of them')
      .option('--dataset <name>', 'dataset with the examples')
      .option(
        '--last <number>',
        'run the version over the newest executions of the prompt, compared with their outputs',
        wholeNumber,
      )
      .option('--trace <id>', 'run it over the model calls of a trace')
      .option('--execution <id>', 'run it over this execution; repeatable', collect, [])
      .option('--evaluator <type>', 'evaluator such as exact_match; repeatable', collect, [])
      .option('--threshold <score>', 'minimum score to pass, from 0 to 1', decimal)
      .option('--baseline <id>', 'evaluation to compare with: an id, previous (default) or none')
      .option('--max-cost <usd>', 'pause before another example could exceed this cost', decimal)
      .addOption(
        new Option(
          '--mode <mode>',
          'batch: use provider batch APIs (cheaper, takes hours); auto: use them if possible',
        ).choices(['interactive', 'batch', 'auto']),
      )
      .option('--max-wait <time>', 'maximum wait per batch, such as 24h')
      .addOption(
        new Option('--leftovers <what>', 'what to do with calls that have no response by then').choices([
          'interactive',
          'fail',
        ]),
      )
      .option('--wait', 'wait for the run to end and exit with its verdict'),
  ).action(async (file: string | undefined, options: RunOptions) => {
    reportsOf(options.report);
    if (!options.wait && (options.report.length > 0 || options.significant || options.maxRegressions !== undefined))
      throw new CliError(EXIT.usage, 'Reports and gates require the finished run: add --wait.');
    if (file !== undefined && (await isFolder(file))) return runFolder(file, options, context);
    const body = await bodyOf(file, options, context);
    const pms = await connect(context);
    const created = await pms.call('createEvaluation', { body });
    if (!options.wait) {
      if (options.json) printJson(context.stdout, created);
      else printLine(context.stdout, created.id);
      return;
    }
    printLine(context.stderr, `${created.id} started: ${created.examples_total} examples`);
    await conclude(pms, await watchEvaluation(pms, created.id, context, options.timeout), options, context);
  });

  addGateOptions(
    evaluations
      .command('watch')
      .description('wait for a run to end and exit with its verdict')
      .argument('<id>', 'eval_…'),
  ).action(async (id: string, options: GateOptions) => {
    reportsOf(options.report);
    const pms = await connect(context);
    await conclude(pms, await watchEvaluation(pms, id, context, options.timeout), options, context);
  });

  evaluations
    .command('compare')
    .description('compare two evaluations')
    .argument('<id>', 'the run')
    .argument('[other]', 'earlier evaluation (default: its baseline)')
    .option('--significant', 'ignore differences within noise')
    .option('--json', 'print JSON')
    .action(async (id: string, given: string | undefined, options: { significant?: boolean; json?: boolean }) => {
      const pms = await connect(context);
      const evaluation = await pms.call('getEvaluation', { path: { id } });
      const other = given ?? evaluation.baseline_id;
      if (other === null) throw new CliError(EXIT.usage, `${id} has no baseline: pass the evaluation to compare with.`);
      if (!isAtRest(evaluation)) throw new CliError(EXIT.usage, `${id} has not ended: pms eval watch ${id}`);
      const comparison = await pms.call('compareEvaluations', { path: { id, other } });
      const { stdout } = context;
      if (options.json) printJson(stdout, comparison);
      else {
        printLine(stdout, `before ${scoreText(comparison.score_a)}, now ${scoreText(comparison.score_b)}`);
        printLine(
          stdout,
          `worse ${comparison.regressions.total}, better ${comparison.improvements.total}, the same ${comparison.unchanged}`,
        );
        for (const { key, score_a: before, score_b: now } of comparison.regressions.examples)
          printLine(stdout, safeText(`  worse: ${key} ${scoreText(before)} → ${scoreText(now)}`));
      }
      end(comparisonVerdict(comparison, options.significant === true), stdout, options.json);
    });
}
