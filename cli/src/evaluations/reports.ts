import type { Api } from 'pms-client';
import { junit } from './junit.ts';
import { scoreText, type Verdict } from './verdict.ts';

/** All that a report says. */
export interface ReportedRun {
  evaluation: Api.Evaluation;
  verdict: Verdict;
  comparison: Api.EvaluationComparison | undefined;
  results: Api.EvaluationResult[];
}

/** Rows of a table in a comment. */
const MAX_ROWS = 20;
const MAX_CELL_CHARS = 200;

export const REPORTS: Readonly<Record<string, (run: ReportedRun) => string>> = {
  junit: junitReport,
  markdown: markdownReport,
  json: (run) => `${JSON.stringify(run, undefined, 2)}\n`,
};

const isWorse = ({ status, regression, score }: Api.EvaluationResult, { threshold }: Api.Evaluation) =>
  status === 'failed' || regression === true || (score ?? 0) < threshold;

function whyWorse({ error, regression, score, baseline_score: before, scores }: Api.EvaluationResult): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  const reasons = Object.entries(scores ?? {})
    .filter(([, { score: each }]) => each < 1)
    .map(([name, { score: each, reason }]) => `${name} ${scoreText(each)}${reason === null ? '' : ` (${reason})`}`);
  const from = regression === true ? ` (${scoreText(before)} before)` : '';
  return `score ${scoreText(score)}${from}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
}

/** A report that has failures where the gate failed, and only there. */
function junitReport({ evaluation, verdict, results }: ReportedRun): string {
  const { id, prompt_name: prompt, prompt_version: version } = evaluation;
  const failure = verdict.reasons.join(' ');
  const gate = { name: 'gate', suite: `${prompt}@${version}`, seconds: 0 };
  return junit(id, [
    {
      ...gate,
      ...(verdict.word === 'failed' && { failure }),
      ...(verdict.word === 'error' && { error: failure }),
      ...(verdict.word === 'inconclusive' && { skipped: failure }),
    },
    ...results.map((result) => ({
      name: result.example_id,
      suite: 'examples',
      seconds: (result.model_ms ?? 0) / 1000,
      ...(verdict.word === 'failed' && isWorse(result, evaluation) && { failure: whyWorse(result) }),
    })),
  ]);
}

const ICONS: Readonly<Record<Verdict['word'], string>> = { passed: '✅', failed: '❌', inconclusive: '⚠️', error: '💥' };

/** Text in a cell: as it is, without becoming a table, a link, a mention or HTML. */
function cell(text: string): string {
  const short = text.length > MAX_CELL_CHARS ? `${text.slice(0, MAX_CELL_CHARS)}…` : text;
  return short.replace(/[\\`*_{}[\]<>()#|!~@&]/g, (char) => `&#${char.charCodeAt(0)};`).replace(/\s+/g, ' ');
}

/** A report for a comment on a pull request. */
function markdownReport({ evaluation, verdict, comparison, results }: ReportedRun): string {
  const { prompt_name: prompt, prompt_version: version, dataset, model } = evaluation;
  const money = (amount: string | null) => (amount === null ? 'unknown' : `$${amount}`);
  const worse = results.filter((result) => isWorse(result, evaluation));
  const lines = [
    `### ${ICONS[verdict.word]} ${cell(prompt)} version ${version}: ${verdict.word}`,
    '',
    ...verdict.reasons.map(cell),
    '',
    '| | |',
    '|---|---|',
    `| score | ${scoreText(evaluation.score)} (threshold ${evaluation.threshold}) |`,
    `| examples | ${evaluation.examples_evaluated} of ${evaluation.examples_total}, ${evaluation.examples_failed} failed |`,
    `| worse, better than before | ${evaluation.regressions ?? '–'}, ${evaluation.improvements ?? '–'} |`,
    ...(comparison === undefined ? [] : [`| comparison | ${cell(comparison.note)} |`]),
    `| model | ${cell(model)} |`,
    ...(dataset === null ? [] : [`| dataset | ${cell(dataset.name)} version ${dataset.version} |`]),
    `| cost | ${money(evaluation.cost.amount)}, judges ${money(evaluation.judge.cost.amount)} |`,
    ...(evaluation.savings === undefined ? [] : [`| saved by batches | ${money(evaluation.savings.amount)} |`]),
    `| evaluation | ${evaluation.id} |`,
  ];
  if (worse.length > 0) {
    lines.push('', '<details><summary>Examples that failed, are worse, or are below the threshold</summary>', '');
    lines.push('| example | why | output |', '|---|---|---|');
    for (const result of worse.slice(0, MAX_ROWS))
      lines.push(`| ${cell(result.example_id)} | ${cell(whyWorse(result))} | ${cell(result.output ?? '')} |`);
    if (worse.length > MAX_ROWS) lines.push('', `… and ${worse.length - MAX_ROWS} more.`);
    lines.push('', '</details>');
  }
  return `${lines.join('\n')}\n`;
}
