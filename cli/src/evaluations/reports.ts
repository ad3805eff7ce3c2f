import type { Api } from 'pms-client';
import { type JUnitCase, junit } from './junit.ts';
import { scoreText, type Verdict } from './verdict.ts';

/** The content of a report. */
export interface ReportedRun {
  evaluation: Api.Evaluation;
  verdict: Verdict;
  comparison: Api.EvaluationComparison | undefined;
  results: Api.EvaluationResult[];
}

/** The outcome of a definition in a folder. */
export interface FolderRun {
  file: string;
  verdict: Verdict;
  /** undefined if it did not start, or its end is unknown */
  run: ReportedRun | undefined;
}

/** Maximum rows of a table in a comment. */
const MAX_ROWS = 20;
const MAX_CELL_CHARS = 200;

/** A report format, for one run and for a whole folder. */
export interface Report {
  ofRun: (run: ReportedRun) => string;
  ofFolder: (folder: string, runs: readonly FolderRun[], verdict: Verdict) => string;
}

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

export const REPORTS: Readonly<Record<string, Report>> = {
  junit: {
    ofRun: (run) => junit(run.evaluation.id, casesOf(run, suiteOf(run), 'examples')),
    ofFolder: (folder, runs) => junit(folder, runs.flatMap(casesInFolder)),
  },
  markdown: { ofRun: markdownReport, ofFolder: (_, runs, verdict) => markdownOfFolder(runs, verdict) },
  json: {
    ofRun: json,
    ofFolder: (_, runs, verdict) =>
      json({ verdict, evaluations: runs.map(({ run, ...rest }) => ({ ...rest, ...run })) }),
  },
};

const isWorse = ({ status, regression, score }: Api.EvaluationResult, { threshold }: Api.Evaluation) =>
  status === 'failed' || regression === true || (score !== null && score < threshold);

/** Why an example has no score; undefined if it has one. */
function whyUnscored(unscored: Api.EvaluationResult['unscored']): string | undefined {
  if (unscored === undefined) return undefined;
  return Object.entries(unscored)
    .map(([name, { reason }]) => `${name} gave no score${reason === null ? '' : ` (${reason})`}`)
    .join('; ');
}

function whyWorse({
  error,
  regression,
  score,
  baseline_score: before,
  scores,
  unscored,
}: Api.EvaluationResult): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  const why = whyUnscored(unscored);
  if (why !== undefined) return why;
  const reasons = Object.entries(scores ?? {})
    .filter(([, { score: each }]) => each < 1)
    .map(([name, { score: each, reason }]) => `${name} ${scoreText(each)}${reason === null ? '' : ` (${reason})`}`);
  const from = regression === true ? ` (${scoreText(before)} before)` : '';
  return `score ${scoreText(score)}${from}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
}

/** `support/greeting version 3`; drafts and code have no version. */
export const nameOfRun = ({ target, prompt_name: name, prompt_version: version }: Api.Evaluation): string =>
  version > 0 ? `${name} version ${version}` : target.type === 'prompt' ? `${name} (draft)` : name;

const suiteOf = ({ evaluation }: ReportedRun) =>
  `${evaluation.prompt_name}@${evaluation.prompt_version > 0 ? evaluation.prompt_version : evaluation.target.type === 'prompt' ? 'draft' : 'code'}`;

function gateOf(verdict: Verdict, suite: string): JUnitCase {
  const failure = verdict.reasons.join(' ');
  return {
    name: 'gate',
    suite,
    seconds: 0,
    ...(verdict.word === 'failed' && { failure }),
    ...(verdict.word === 'error' && { error: failure }),
    ...(verdict.word === 'inconclusive' && { skipped: failure }),
  };
}

/** The gate and the examples of a run. Failures appear only if the gate failed. */
function casesOf({ evaluation, verdict, results }: ReportedRun, gate: string, suite: string): JUnitCase[] {
  return [
    gateOf(verdict, gate),
    ...results.map((result) => ({
      name: result.example_id,
      suite,
      seconds: (result.model_ms ?? 0) / 1000,
      ...(verdict.word === 'failed' && isWorse(result, evaluation) && { failure: whyWorse(result) }),
      ...(result.unscored !== undefined && { skipped: whyUnscored(result.unscored) ?? '' }),
    })),
  ];
}

const casesInFolder = ({ file, verdict, run }: FolderRun) =>
  run === undefined ? [gateOf(verdict, file)] : casesOf(run, file, `${file} examples`);

/** The combined verdict on a folder, followed by each run. */
function markdownOfFolder(runs: readonly FolderRun[], verdict: Verdict): string {
  const rows = runs.map(({ file, verdict: own }) => {
    return `| ${cell(file)} | ${ICONS[own.word]} ${own.word} | ${cell(own.reasons.join(' '))} |`;
  });
  const head = [`## ${ICONS[verdict.word]} ${verdict.word}: ${verdict.reasons.map(cell).join(' ')}`, ''];
  const table = ['| evaluation | verdict | |', '|---|---|---|', ...rows, ''];
  return [...head, ...table, ...runs.flatMap(({ run }) => (run === undefined ? [] : [markdownReport(run)]))].join('\n');
}

const ICONS: Readonly<Record<Verdict['word'], string>> = { passed: '✅', failed: '❌', inconclusive: '⚠️', error: '💥' };

/** Escapes text in a cell, so that it does not become a table, a link, a mention or HTML. */
function cell(text: string): string {
  const short = text.length > MAX_CELL_CHARS ? `${text.slice(0, MAX_CELL_CHARS)}…` : text;
  return short.replace(/[\\`*_{}[\]<>()#|!~@&]/g, (char) => `&#${char.charCodeAt(0)};`).replace(/\s+/g, ' ');
}

/** A report for a comment on a pull request. */
function markdownReport({ evaluation, verdict, comparison, results }: ReportedRun): string {
  const { dataset, model } = evaluation;
  const money = (amount: string | null) => (amount === null ? 'unknown' : `$${amount}`);
  const worse = results.filter((result) => isWorse(result, evaluation) || result.unscored !== undefined);
  const lines = [
    `### ${ICONS[verdict.word]} ${cell(nameOfRun(evaluation))}: ${verdict.word}`,
    '',
    ...verdict.reasons.map(cell),
    '',
    '| | |',
    '|---|---|',
    `| score | ${scoreText(evaluation.score)} (threshold ${evaluation.threshold}) |`,
    `| examples | ${evaluation.examples_evaluated} of ${evaluation.examples_total}, ${evaluation.examples_failed} failed, ${evaluation.examples_unscored ?? 0} without a score |`,
    `| worse, better than before | ${evaluation.regressions ?? '–'}, ${evaluation.improvements ?? '–'} |`,
    ...(comparison === undefined ? [] : [`| comparison | ${cell(comparison.note)} |`]),
    `| model | ${cell(model)} |`,
    ...(dataset === null ? [] : [`| dataset | ${cell(dataset.name)} version ${dataset.version} |`]),
    `| cost | ${money(evaluation.cost.amount)}, judges ${money(evaluation.judge.cost.amount)} |`,
    ...(evaluation.savings === undefined ? [] : [`| saved by batches | ${money(evaluation.savings.amount)} |`]),
    `| evaluation | ${evaluation.id} |`,
  ];
  if (worse.length > 0) {
    lines.push(
      '',
      '<details><summary>Examples that failed, are worse, are below the threshold, or have no score</summary>',
      '',
    );
    lines.push('| example | why | output |', '|---|---|---|');
    for (const result of worse.slice(0, MAX_ROWS))
      lines.push(`| ${cell(result.example_id)} | ${cell(whyWorse(result))} | ${cell(result.output ?? '')} |`);
    if (worse.length > MAX_ROWS) lines.push('', `… and ${worse.length - MAX_ROWS} more.`);
    lines.push('', '</details>');
  }
  return `${lines.join('\n')}\n`;
}
