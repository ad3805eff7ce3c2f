import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Interval } from '../../components/interval.tsx';
import { Section } from '../../components/section.tsx';
import { formatNumber, formatScore, NONE, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import { measureWords } from '../agreement/in-words.ts';
import { signed } from '../evaluations/in-words.ts';
import { usd, verdictInWords } from './in-words.tsx';
import type { Improvement, Verdict } from './types.ts';

/** What the search found, in words, with the scores where it was proved beside those where it was chosen. */
export function VerdictSection({ improvement }: { improvement: Improvement }) {
  const { verdict } = improvement;
  if (verdict === null) return null;
  const { text, more, tone } = verdictInWords(verdict);
  return (
    <Section id="verdict" title="Verdict">
      <div className={`notice improve-verdict ${tone}`}>
        <strong>{text}</strong>
        <span>{more}</span>
        {verdict.interval !== null && (
          <Interval low={verdict.interval.low} high={verdict.interval.high} difference={verdict.difference ?? 0} />
        )}
      </div>
      {verdict.score !== null && <Scores improvement={improvement} verdict={verdict} />}
      <Proof verdict={verdict} />
    </Section>
  );
}

function Scores({ improvement, verdict }: { improvement: Improvement; verdict: Verdict }) {
  const { split, base } = improvement;
  const { candidate, difference, optimism } = verdict;
  const gain = difference === null || optimism === null ? null : difference + optimism;
  return (
    <div className="wide-scroll" tabIndex={0} role="region" aria-label="Scores of the verdict">
      <table className="simple-table improve-scores">
        <thead>
          <tr>
            <th scope="col">Examples</th>
            <th scope="col">Base</th>
            <th scope="col">Candidate {candidate}</th>
            <th scope="col">Difference</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{formatNumber(verdict.examples)} held-out examples, which nothing had seen: the proof</th>
            <td>{formatScore(verdict.score_base)}</td>
            <td>{formatScore(verdict.score)}</td>
            <td>
              <strong>{difference === null ? NONE : signed(difference)}</strong>
            </td>
          </tr>
          <tr>
            <th scope="row">
              {formatNumber(split.check)} check examples, which chose it: too good, as the best of many
            </th>
            <td>{formatScore(base.check)}</td>
            <td>{gain === null || base.check === null ? NONE : formatScore(base.check + gain)}</td>
            <td>{gain === null ? NONE : signed(gain)}</td>
          </tr>
          <tr>
            <th scope="row">{formatNumber(split.train)} train examples, which it learned from</th>
            <td>{formatScore(base.train)}</td>
            <td>{NONE}</td>
            <td>{NONE}</td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** How sure it is, and what each call costs more or less. */
function Proof({ verdict }: { verdict: Verdict }) {
  const { p_value: p, p_needed: needed, look, cost_per_call: cost, length, evaluation_id: id } = verdict;
  const { base_evaluation_id: other, agreement } = verdict;
  const price = cost !== null && cost.base !== null && cost.candidate !== null && (
    <li key="cost">
      A call of the candidate costs {usd(cost.candidate)}, of the base {usd(cost.base)}.
    </li>
  );
  const lines: ReactNode[] = [
    id !== null && other !== null && (
      <li key="compare">
        <Link to="/evaluations/$id/compare/$other" params={{ id, other }}>
          Compare the outputs of both
        </Link>
      </li>
    ),
    p !== null && needed !== null && (
      <li key="p">
        {t(`The probability of such a difference by chance is ${formatP(p)}; at most ${formatP(needed)} is accepted.`)}
      </li>
    ),
    look !== null && look > 1 && (
      <li key="look">This is verdict {look} over some of these examples: each further one needs stronger proof.</li>
    ),
    agreement !== null && agreement.candidate[0] !== undefined && agreement.base[0] !== undefined && (
      <li key="agreement">
        Agreement with people on “{agreement.score}”, as far as {plural(agreement.examples, 'example', 'examples')}{' '}
        tell: {measureWords(agreement.candidate[0])}; the base: {measureWords(agreement.base[0])}.
      </li>
    ),
    price,
    length !== null && (
      <li key="length">
        The candidate has {formatNumber(length.candidate)} characters, the base {formatNumber(length.base)}.
      </li>
    ),
  ];
  if (lines.every((each) => !each)) return null;
  return <ul className="improve-notes">{lines}</ul>;
}

const formatP = (p: number) => `${formatNumber(Number((p * 100).toPrecision(2)))} %`;
