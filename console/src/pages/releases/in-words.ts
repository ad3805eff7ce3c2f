import { formatCost, formatMs, formatNumber, formatScore, formatTime, NONE, NUMBERS, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { analyzeNumbersOf, approveNumbersOf, evaluateNumbersOf } from './queries.ts';
import type { Check, Release, ReleaseCheck, ReleaseRunStep, ReleaseStep } from './types.ts';

const share = new Intl.NumberFormat(NUMBERS, { maximumFractionDigits: 2 });
const score = new Intl.NumberFormat(NUMBERS, { maximumSignificantDigits: 4 });

/** With a sign; the minus sign is as wide as the plus sign. */
const signed = (value: number, text: string) => (value === 0 ? text : `${value < 0 ? '−' : '+'}${text}`);

export const inPercent = (percent: number) => `${share.format(percent)} %`;

const OF_TRACES = 'trace:';
export const withoutTrace = (metric: string) =>
  metric.startsWith(OF_TRACES) ? metric.slice(OF_TRACES.length) : metric;

export function metricInWords(metric: string): string {
  if (metric.startsWith(OF_TRACES)) return t(`${metricInWords(withoutTrace(metric))}, of traces`);
  if (metric === 'error_rate') return t('Error rate');
  if (metric === 'latency_p95') return t('Latency, p95');
  if (metric === 'cost_mean') return t('Mean cost');
  return t(`Score “${metric.slice('score:'.length)}”, mean`);
}

/** A value of a metric, in its unit. */
export function valueInWords(of: string, value: number | null): string {
  const metric = withoutTrace(of);
  if (value === null) return NONE;
  if (metric === 'error_rate') return inPercent(value * 100);
  if (metric === 'latency_p95') return formatMs(value);
  if (metric === 'cost_mean') return formatCost({ amount: String(value) });
  return score.format(value);
}

/** A difference of a metric: in points for a rate, relative for latency and cost, or in the unit of a score. */
export function differenceInWords(of: string, value: number): string {
  const metric = withoutTrace(of);
  if (metric === 'error_rate') return t(`${signed(value, share.format(Math.abs(value) * 100))} points`);
  if (metric === 'latency_p95' || metric === 'cost_mean')
    return `${signed(value, share.format(Math.abs(value) * 100))} %`;
  return signed(value, score.format(Math.abs(value)));
}

const boundInWords = (metric: string, value: number | null, open: string) =>
  value === null ? open : differenceInWords(metric, value);

export function intervalInWords({ metric, lower, upper }: Check): string {
  if (lower === null && upper === null) return t('not known yet');
  if (lower === null) return t(`at most ${boundInWords(metric, upper, '')}`);
  if (upper === null) return t(`at least ${boundInWords(metric, lower, '')}`);
  return t(`${differenceInWords(metric, lower)} to ${differenceInWords(metric, upper)}`);
}

export function limitInWords({ metric, limit }: Check): string {
  const { lower, upper } = limit;
  if (lower !== null && upper !== null)
    return t(`${differenceInWords(metric, lower)} to ${differenceInWords(metric, upper)}`);
  if (upper !== null) return t(`at most ${differenceInWords(metric, upper)}`);
  return lower === null ? NONE : t(`at least ${differenceInWords(metric, lower)}`);
}

/** The title of a step: "Canary 5 %". */
export function stepTitle(step: ReleaseStep): string {
  switch (step.type) {
    case 'evaluate':
      return t('Evaluate');
    case 'approve':
      return step.count === 1 ? t('Approval') : plural(step.count, 'approval', 'approvals');
    case 'canary':
      return t(`Canary ${inPercent(step.percent)}`);
    case 'analyze':
      return t(`Analyze for ${step.for}`);
    case 'wait':
      return t(`Wait ${step.for}`);
    case 'promote':
      return step.bake === undefined ? t('Promote') : t(`Promote, bake ${step.bake.for}`);
  }
}

/** Steps in one line: "Evaluate → Approval → Canary 5 % → Promote". */
export const stepsInWords = (steps: readonly unknown[]) =>
  steps.map((step) => stepTitle(step as ReleaseStep)).join(' → ');

export function checkInWords({ metric, against, max_increase, max_decrease }: ReleaseCheck): string {
  const limits = [
    max_increase === undefined ? '' : t(`${differenceInWords(metric, max_increase)} at most`),
    max_decrease === undefined ? '' : t(`${differenceInWords(metric, -max_decrease)} at least`),
  ].filter(Boolean);
  const other = against === 'stable' ? t('stable') : valueInWords(metric, against);
  return t(`${metricInWords(metric)} against ${other}: ${limits.join(', ')}`);
}

/** The settings of a step. */
export function stepDetails(step: ReleaseStep): string[] {
  switch (step.type) {
    case 'evaluate': {
      const wants = {
        not_worse: t('must not be worse than stable'),
        better: t('must be better than stable'),
        threshold: t(`must score ${formatScore(step.threshold)}`),
      };
      const { name, version } = step.dataset;
      return [t(`Over ${name}${version === undefined ? '' : `@${version}`}: ${wants[step.require]}`)];
    }
    case 'approve':
      return [step.exclude_author ? t('Its author does not count') : t('Its author counts, too')];
    case 'canary':
      return [];
    case 'analyze':
      return [
        ...(step.min_executions > 0 ? [t(`Executions at least: ${formatNumber(step.min_executions)}`)] : []),
        ...step.checks.map(checkInWords),
      ];
    case 'wait':
      return [];
    case 'promote':
      return (step.bake?.checks ?? []).map(checkInWords);
  }
}

const STATES: Record<ReleaseRunStep['state'], { text: string; tone: string }> = {
  pending: { text: 'to come', tone: '' },
  active: { text: 'now', tone: 'accent' },
  passed: { text: 'passed', tone: 'good' },
  failed: { text: 'failed', tone: 'bad' },
  inconclusive: { text: 'inconclusive', tone: 'warn' },
  skipped: { text: 'skipped', tone: '' },
};
export const stepState = ({ state }: Pick<ReleaseRunStep, 'state'>) => STATES[state];

/** When a step ran, or how long it will run. */
export function stepTimes({ state, started_at, due_at, finished_at }: ReleaseRunStep): string {
  if (started_at === null) return '';
  if (finished_at === null)
    return t(
      `since ${formatTime(started_at)}${state === 'active' && due_at !== null ? `, until ${formatTime(due_at)} at the earliest` : ''}`,
    );
  const ms = Date.parse(finished_at) - Date.parse(started_at);
  return `${formatTime(finished_at)}${ms >= 1_000 ? t(`, after ${formatMs(ms)}`) : ''}`;
}

/** The numbers of a step in words. */
export function stepNumbers(step: ReleaseRunStep, release: Release, index: number): string[] {
  if (step.type === 'approve') {
    if (approveNumbersOf(step.numbers) === undefined) return [];
    const count = release.approvals.filter((approval) => approval.step === index).length;
    return [t(`${count} of ${step.count} approved`)];
  }
  const evaluated = evaluateNumbersOf(step.numbers);
  if (evaluated !== undefined) {
    if (evaluated.score === undefined) return step.state === 'active' ? [t('Evaluations are running')] : [];
    const { score: now = null, baseline_score: before = null, regressions, improvements } = evaluated;
    return [
      t(`Scores ${formatScore(now)}${before === null ? '' : `, stable ${formatScore(before)}`}`),
      ...(regressions == null ? [] : [t(`${regressions} worse, ${improvements ?? 0} better`)]),
    ];
  }
  const analyzed = analyzeNumbersOf(step.numbers);
  if (analyzed === undefined) return [];
  return [
    plural(analyzed.arms.candidate.executions, 'execution of the candidate', 'executions of the candidate'),
    ...analyzed.checks.map((check) => `${metricInWords(check.metric)}: ${check.verdict}`),
  ];
}

const TONES: Record<string, string> = {
  in_progress: 'accent',
  awaiting_approval: 'warn',
  paused: 'warn',
  baking: 'accent',
  succeeded: 'good',
  passed: 'good',
  approved: 'good',
  promoted: 'good',
  rolled_back: 'bad',
  rejected: 'bad',
  failed: 'bad',
  inconclusive: 'warn',
  canceled: 'warn',
  superseded: '',
};
/** The tone of a state, a verdict or a decision. */
export const toneOf = (status: string) => TONES[status] ?? '';
export const statusInWords = (status: string) => status.replaceAll('_', ' ');

/** The candidate's share in percent: all once the label has moved, unless it has moved back. */
export const shareOf = ({ status, percent, promoted_at }: Release): number =>
  promoted_at !== null && (status === 'succeeded' || status === 'baking' || status === 'paused') ? 100 : percent;

/** Who gets which version, in words. */
export function shareInWords(release: Release): string {
  const { stable_version, candidate_version } = release;
  const percent = shareOf(release);
  if (percent === 100) return t(`All callers get version ${candidate_version}`);
  if (percent === 0) return t(`All callers get version ${stable_version}`);
  return t(`${inPercent(percent)} get version ${candidate_version}`);
}
