import type { Execution } from '../../api-types.ts';
import { formatCost, formatMs, formatNumber, NONE } from '../../format.ts';
import './calls-timeline.css';

/** Every call to a model, retries and fallbacks too, from the creation of the execution on. */
export function CallsTimeline({ execution }: { execution: Execution }) {
  const { calls } = execution;
  if (calls.length === 0) return null;
  const start = Date.parse(execution.created_at);
  const ends = calls.map((call) => Date.parse(call.started_at) + (call.duration_ms ?? 0) - start);
  const total = Math.max(execution.latency.total_ms ?? 0, ...ends, 1);
  return (
    <div className="stack">
      <h2>Calls to models</h2>
      <ol className="calls">
        {calls.map((call, index) => {
          const begin = Math.max(0, Date.parse(call.started_at) - start);
          const width = Math.max(((call.duration_ms ?? total - begin) / total) * 100, 0.5);
          return (
            <li key={`${call.started_at} ${call.model}`}>
              <p>
                <strong>
                  {index + 1}. {call.model}
                </strong>{' '}
                <span className="muted">
                  after {formatMs(begin)},{' '}
                  {call.duration_ms === null ? 'no response yet' : `took ${formatMs(call.duration_ms)}`},{' '}
                  {call.tokens ? `${formatNumber(call.tokens.total)} tokens` : NONE}, {formatCost(call.cost)}
                </span>
              </p>
              <div className="calls-track" aria-hidden="true">
                <div
                  className={call.error ? 'calls-bar failed' : 'calls-bar'}
                  style={{ marginInlineStart: `${Math.min((begin / total) * 100, 99.5)}%`, width: `${width}%` }}
                />
              </div>
              {call.error && (
                <p className="field-error">
                  {call.error.code}: {call.error.message}
                </p>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
