import { Link } from '@tanstack/react-router';
import type { Trace } from '../../api-types.ts';
import { PromptLink, StatusBadge } from '../../components/badges.tsx';
import { Fact } from '../../components/fact.tsx';
import { formatCost, formatMs, formatNumber, formatTime, plural } from '../../format.ts';

/** What a trace was and cost. */
export function TraceFacts({ trace }: { trace: Trace }) {
  const { tokens, cost, prompts, metadata, user_id: user } = trace;
  const others = Object.entries(metadata);
  return (
    <dl className="facts">
      <Fact label="Status">
        <StatusBadge status={trace.status} />
      </Fact>
      <Fact label="Started">{formatTime(trace.started_at)}</Fact>
      <Fact label="Duration">{formatMs(trace.duration_ms)}</Fact>
      <Fact label="Steps">
        {formatNumber(trace.steps)}
        {trace.errors > 0 && <span className="execution-error">, {formatNumber(trace.errors)} failed</span>}
      </Fact>
      <Fact label="Model calls">{formatNumber(trace.calls)}</Fact>
      <Fact label="Tokens">
        {formatNumber(tokens.input)} in, {formatNumber(tokens.output)} out
      </Fact>
      <Fact label="Cost">
        {formatCost(cost)}
        {cost.unpriced_calls > 0 && (
          <span className="muted"> without {plural(cost.unpriced_calls, 'call', 'calls')} of unknown price</span>
        )}
      </Fact>
      {user !== null && (
        <Fact label="User">
          <Link to="/traces" search={{ user_id: user }}>
            {user}
          </Link>
        </Fact>
      )}
      {prompts.length > 0 && (
        <Fact label="Prompts">
          <ul>
            {prompts.map(({ name, version }) => (
              <li key={`${name} ${version}`}>
                <PromptLink name={name} version={version} />
              </li>
            ))}
          </ul>
        </Fact>
      )}
      {trace.models.length > 0 && <Fact label="Models">{trace.models.join(', ')}</Fact>}
      {trace.service !== null && <Fact label="Service">{trace.service}</Fact>}
      {trace.environment !== null && <Fact label="Environment">{trace.environment}</Fact>}
      {trace.tags.length > 0 && <Fact label="Tags">{trace.tags.join(', ')}</Fact>}
      {others.length > 0 && (
        <Fact label="Metadata">
          <ul>
            {others.map(([name, value]) => (
              <li key={name}>
                {name}: {value}
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </dl>
  );
}

/** Notices about missing steps and steps that may still arrive. */
export function Gaps({ trace: { settled, incomplete } }: { trace: Trace }) {
  return (
    <>
      {!settled && (
        <p role="status" className="notice">
          More steps may come. Until then, tokens and cost are not final.
        </p>
      )}
      {incomplete.includes('root_missing') && (
        <p className="notice warn">The root of this trace has not arrived. It has the name of its first step.</p>
      )}
      {incomplete.includes('steps_over_limit') && (
        <p className="notice warn">This trace has more steps than are stored. The others were refused.</p>
      )}
    </>
  );
}
