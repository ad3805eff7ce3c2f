import { Link } from '@tanstack/react-router';
import { Section } from '../../components/section.tsx';
import { formatCost, formatMs, formatNumber, formatScore, NONE } from '../../format.ts';
import { t } from '../../strings.ts';
import { inPercent } from './in-words.ts';
import type { Arm, Release } from './types.ts';

const usd = (amount: number | null) => formatCost({ amount: amount === null ? null : String(amount) });

/** Both versions over the whole release. */
export function ArmsTable({ release }: { release: Release }) {
  const { stable, candidate } = release.arms;
  const scores = [...new Set([...Object.keys(stable.scores), ...Object.keys(candidate.scores)])];
  const row = (title: string, read: (arm: Arm) => string) => (
    <tr key={title}>
      <th scope="row">{title}</th>
      <td>{read(stable)}</td>
      <td>{read(candidate)}</td>
    </tr>
  );
  const head = (title: string, arm: 'stable' | 'candidate', version: number) => (
    <th scope="col">
      {title}: version {version}{' '}
      <Link to="/executions" search={{ release: release.id, arm }}>
        executions<span className="visually-hidden"> of the {arm} version</span>
      </Link>
    </th>
  );
  return (
    <Section id="arms" title="Both versions during the release">
      <table className="simple-table">
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Number</span>
            </th>
            {head(t('Stable'), 'stable', release.stable_version)}
            {head(t('Candidate'), 'candidate', release.candidate_version)}
          </tr>
        </thead>
        <tbody>
          {row(t('Executions'), ({ executions }) => formatNumber(executions))}
          {row(t('Failed'), ({ errors, error_rate }) =>
            error_rate === null ? NONE : `${formatNumber(errors)} (${inPercent(error_rate * 100)})`,
          )}
          {row(t('Latency, p95'), ({ latency_p95_ms }) => formatMs(latency_p95_ms))}
          {row(t('Mean cost'), ({ cost_mean }) => usd(cost_mean))}
          {row(t('Total cost'), ({ cost_total }) => usd(cost_total))}
          {row(t('Tokens'), ({ tokens }) => formatNumber(tokens))}
          {row(t('By fallback models'), ({ fallbacks }) => formatNumber(fallbacks))}
          {row(t('Responses reused'), ({ reused }) => formatNumber(reused))}
          {scores.map((name) =>
            row(t(`Score “${name}”, mean`), (arm) => {
              const value = arm.scores[name] ?? null;
              return value !== null && value >= 0 && value <= 1 ? formatScore(value) : formatNumber(value);
            }),
          )}
        </tbody>
      </table>
    </Section>
  );
}
