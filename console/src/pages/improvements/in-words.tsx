import { StatusBadge } from '../../components/badges.tsx';
import { formatCost, formatNumber, formatScore, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { signed } from '../evaluations/in-words.ts';
import type { Candidate, Improvement, Verdict } from './types.ts';

/** A value for people, and the tone of its badge or notice. */
interface Words {
  text: string;
  tone: string;
}

const RESULTS: Record<string, Words> = {
  improvement: { text: t('improvement proved'), tone: 'good' },
  regression: { text: t('worse'), tone: 'bad' },
  no_proof: { text: t('no improvement proved'), tone: 'warn' },
  no_candidate: { text: t('no improvement found'), tone: 'warn' },
};

/** The state; of a completed improvement, its result. */
export function StateBadge({ improvement: { status, verdict } }: { improvement: Improvement }) {
  const result = status === 'completed' && verdict !== null ? RESULTS[verdict.result] : undefined;
  return result === undefined ? (
    <StatusBadge status={status} />
  ) : (
    <span className={`badge ${result.tone}`}>{result.text}</span>
  );
}

export const usd = (amount: number) => formatCost({ amount: String(amount) });

/** What was spent, with the limit. */
export const spentInWords = ({ spent, max_cost: limit }: Pick<Improvement, 'spent' | 'max_cost'>) =>
  limit === null ? t(`${usd(spent.cost)}, no limit`) : t(`${usd(spent.cost)} of ${formatCost({ amount: limit })}`);

/** What an unfinished improvement does at the moment. */
export function phaseInWords({ phase, split, proposals, max_proposals: most }: Improvement): string {
  if (phase === 'base')
    return t(
      `Measuring the base prompt on ${formatNumber(split.train)} train and ${formatNumber(split.check)} check examples`,
    );
  if (phase === 'search')
    return t(`Searching: ${formatNumber(Math.max(proposals.made, 0))} of at most ${formatNumber(most)} candidates`);
  if (phase === 'verdict')
    return t(`Testing the best candidate on ${formatNumber(split.held_out)} examples that nothing has seen`);
  return phase;
}

/** Why the search ended; null while it has not. */
export function stopInWords({ stop_reason: reason, patience, max_proposals: most }: Improvement): string | null {
  switch (reason) {
    case null:
      return null;
    case 'perfect':
      return t('every check example is right');
    case 'patience':
      return t(`no better candidate among the last ${formatNumber(patience)}`);
    case 'max_proposals':
      return t(`all ${formatNumber(most)} candidates were made`);
    case 'max_cost':
      return t('too little money was left for another round');
    case 'deadline':
      return t('its deadline came');
    case 'finished':
      return t('someone requested the verdict');
    default:
      return reason;
  }
}

/** The verdict as a heading and a sentence. */
export function verdictInWords(verdict: Verdict): Words & { more: string } {
  const { result, candidate, score, score_base: before, difference, interval, examples } = verdict;
  const tone = RESULTS[result]?.tone ?? '';
  if (result === 'no_candidate')
    return {
      text: t('No improvement found'),
      more: `${verdict.note} ${t('The prompt stays unchanged.')}`,
      tone,
    };
  if (difference === null || interval === null) return { text: t('No improvement proved'), more: verdict.note, tone };
  const found = t(
    `On ${plural(examples ?? 0, 'example', 'examples')} that nothing had seen, candidate ${candidate} scores ${formatScore(score)} and the base ${formatScore(before)}.`,
  );
  const range = t(
    `With 95 % confidence, the true gain is between ${signed(interval.low)} and ${signed(interval.high)} points.`,
  );
  if (result === 'improvement')
    return { text: t(`Improvement proved: ${signed(difference)} points`), more: `${found} ${range}`, tone };
  if (result === 'regression')
    return { text: t(`Worse: ${signed(difference)} points`), more: `${found} ${range}`, tone };
  return {
    text: t(`No improvement proved: ${signed(difference)} points can be chance`),
    more: `${found} ${range} ${t('More held-out examples would tell more.')}`,
    tone,
  };
}

const KINDS: Record<string, string> = {
  base: t('the base prompt'),
  reflect: t('rewritten from failures of its parent'),
  restart: t('written from scratch, without the wording of the base'),
  few_shot: t('shows one more example'),
};
export const kindInWords = (kind: string) => KINDS[kind] ?? kind;

const REJECTS: Record<string, string> = {
  variables_changed: t('other variables'),
  includes_changed: t('other included prompts'),
  structure_changed: t('other structure'),
  kept_text_missing: t('lacks a text to keep'),
  too_long: t('too long'),
  copies_example: t('copies an example'),
  adds_address: t('adds an address'),
  duplicate: t('was tried before'),
  unreadable: t('unreadable answer'),
  invalid: t('not a valid prompt'),
  not_measured: t('could not be measured'),
};
export const rejectInWords = (code: string) => REJECTS[code] ?? code;

/** What became of a candidate, in a few words. */
export function outcomeInWords({ number, status, check, minibatch, reject }: Candidate): Words {
  if (status === 'rejected') return { text: t(`refused: ${rejectInWords(reject?.code ?? '')}`), tone: 'lost' };
  if (check !== null)
    return {
      text:
        number === 0 ? formatScore(check.score) : t(`${formatScore(check.score)}, ${signed(check.difference)} points`),
      tone: check.difference > 0 ? 'won' : check.difference < 0 ? 'lost' : 'muted',
    };
  if (status === 'tried')
    return {
      text: t(`no gain: ${formatScore(minibatch?.parent_score)} to ${formatScore(minibatch?.score)}`),
      tone: 'muted',
    };
  if (reject !== null) return { text: rejectInWords(reject.code), tone: 'muted' };
  if (status === 'skipped') return { text: t('skipped: its parent failed nothing'), tone: 'muted' };
  return { text: number === 0 ? t('being measured') : t('in progress'), tone: 'muted' };
}
