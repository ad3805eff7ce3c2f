import { Section } from '../../components/section.tsx';
import { formatNumber, formatTime } from '../../format.ts';
import { intervalInWords, limitInWords, metricInWords, valueInWords } from './in-words.ts';
import { ReleaseBadge } from './release-badge.tsx';
import type { AnalyzeNumbers, Check } from './types.ts';

const WIDTH = 144;
const HEIGHT = 20;

/** The interval of a difference above the allowed range. Repeats the neighboring cells graphically. */
function IntervalBar({ check: { lower, upper, difference, limit } }: { check: Check }) {
  const known = [lower, upper, difference, limit.lower, limit.upper, 0].filter((value) => value !== null);
  const span = Math.max(...known) - Math.min(...known) || 1;
  const from = Math.min(...known) - span * 0.15;
  const x = (value: number | null, open: number) => (value === null ? open : ((value - from) / (span * 1.3)) * WIDTH);
  const [allowedFrom, allowedTo] = [x(limit.lower, 0), x(limit.upper, WIDTH)];
  const hasInterval = lower !== null || upper !== null;
  return (
    <svg className="interval-bar" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <rect className="forbidden" width={WIDTH} height={HEIGHT} />
      <rect className="allowed" x={allowedFrom} width={Math.max(0, allowedTo - allowedFrom)} height={HEIGHT} />
      <line className="zero" x1={x(0, 0)} x2={x(0, 0)} y2={HEIGHT} />
      {hasInterval && (
        <line className="interval" x1={x(lower, 0)} x2={x(upper, WIDTH)} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      )}
      {difference !== null && <circle className="estimate" cx={x(difference, 0)} cy={HEIGHT / 2} r="4" />}
    </svg>
  );
}

/** The checks of a step: estimates, the interval of the difference, and the allowed range. */
export function ChecksTable({ numbers }: { numbers: AnalyzeNumbers }) {
  return (
    <Section id="checks" title="Checks">
      <p className="muted">Both versions since the share last changed. Measured at {formatTime(numbers.at)}.</p>
      {numbers.checks.length === 0 ? (
        <p>This step has no checks.</p>
      ) : (
        <div className="release-scroll" tabIndex={0} role="region" aria-label="Checks: numbers">
          <table className="simple-table">
            <thead>
              <tr>
                <th scope="col">Check</th>
                <th scope="col">Verdict</th>
                <th scope="col">Candidate</th>
                <th scope="col">Stable</th>
                <th scope="col">Difference, interval</th>
                <th scope="col">Limit</th>
                <th scope="col">
                  <span className="visually-hidden">Picture</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {numbers.checks.map((check) => (
                <tr key={`${check.metric} ${check.against}`}>
                  <th scope="row">
                    {metricInWords(check.metric)}
                    <p className="muted release-note">{check.note}</p>
                  </th>
                  <td>
                    <ReleaseBadge status={check.verdict} />
                  </td>
                  <td>
                    {valueInWords(check.metric, check.candidate.estimate)}
                    <p className="muted">of {formatNumber(check.candidate.n)}</p>
                  </td>
                  <td>
                    {check.stable === null ? (
                      valueInWords(check.metric, check.against === 'stable' ? null : check.against)
                    ) : (
                      <>
                        {valueInWords(check.metric, check.stable.estimate)}
                        <p className="muted">of {formatNumber(check.stable.n)}</p>
                      </>
                    )}
                  </td>
                  <td>{intervalInWords(check)}</td>
                  <td>{limitInWords(check)}</td>
                  <td>
                    <IntervalBar check={check} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
