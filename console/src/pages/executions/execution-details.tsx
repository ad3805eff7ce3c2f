import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Execution } from '../../api-types.ts';
import { PromptLink, StatusBadge } from '../../components/badges.tsx';
import { Fact } from '../../components/fact.tsx';
import { MessagesView } from '../../components/messages-view.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { formatCost, formatMs, formatNumber, formatTime, NONE } from '../../format.ts';
import { executionQuery, hasEnded } from '../../queries.ts';
import { ScoresSection } from '../scores/scores-section.tsx';
import { RunTimeline } from './run-timeline.tsx';

/** The details of an execution, on its page and next to the list. */
export function ExecutionDetails({ execution }: { execution: Execution }) {
  const client = useQueryClient();
  const { tokens, latency, error } = execution;
  const metadata = Object.keys(execution.metadata).length > 0;
  return (
    <>
      <dl className="facts">
        <Fact label="Status">
          <StatusBadge status={execution.status} />
        </Fact>
        <Fact label="Prompt">
          <PromptLink name={execution.prompt_name} version={execution.prompt_version} />
        </Fact>
        <Fact label="Model">
          {execution.model}
          {execution.requested_model !== execution.model && (
            <span className="muted"> instead of {execution.requested_model}</span>
          )}
        </Fact>
        <Fact label="Tokens">
          {execution.tokens_unknown ? (
            'not known: the provider did not report them'
          ) : (
            <>
              {formatNumber(tokens.input)} in, {formatNumber(tokens.output)} out
            </>
          )}
          {tokens.cached_input > 0 && <span className="muted"> ({formatNumber(tokens.cached_input)} cached)</span>}
        </Fact>
        <Fact label="Cost">
          {execution.cost.amount !== null
            ? formatCost(execution.cost)
            : execution.tokens_unknown
              ? 'not known'
              : 'unknown: the model has no price'}
        </Fact>
        <Fact label="Duration">
          {formatMs(latency.total_ms)}
          {latency.model_ms !== null && <span className="muted"> (model {formatMs(latency.model_ms)})</span>}
        </Fact>
        <Fact label="Created">{formatTime(execution.created_at)}</Fact>
        {execution.release && (
          <Fact label="Release">
            <Link to="/releases/$id" params={{ id: execution.release.id }}>
              {execution.release.arm} version
            </Link>
            <span className="muted">
              {execution.release.keyed ? ' by its rollout key' : ' at random: it had no key'}
            </span>
          </Fact>
        )}
        {execution.trace_id && (
          <Fact label="Trace">
            <Link
              to="/traces/$id"
              params={{ id: execution.trace_id }}
              search={{ step: execution.span_id ?? undefined }}
            >
              {execution.trace_id.slice(-12)}
            </Link>
          </Fact>
        )}
        <Fact label="Finish reason">{execution.finish_reason ?? NONE}</Fact>
      </dl>
      {error && (
        <div className="notice bad">
          <strong>{error.code}</strong> {error.message}
        </div>
      )}
      {execution.reused_from && (
        <p className="notice">
          <span>
            The response was reused from{' '}
            <Link to="/executions/$id" params={{ id: execution.reused_from }}>
              an earlier execution
            </Link>
            .
          </span>
        </p>
      )}
      <RunTimeline execution={execution} />
      <div className="stack">
        <h2>Output</h2>
        {execution.output === null || (execution.output === '' && execution.tool_calls.length > 0) ? (
          <p className="muted">None.</p>
        ) : (
          <OutputView text={execution.output} label="output" />
        )}
        {execution.tool_calls.length > 0 && (
          <>
            <h3>Tool calls requested by the model</h3>
            <JsonView value={execution.tool_calls} label="tool calls" />
          </>
        )}
      </div>
      {hasEnded(execution.status) && (
        <ScoresSection
          scores={execution.scores ?? []}
          subject={{ execution_id: execution.id }}
          onChanged={() => client.invalidateQueries({ queryKey: executionQuery(execution.id).queryKey })}
        />
      )}
      <div className="stack">
        <h2>Input</h2>
        <MessagesView input={execution.input} />
      </div>
      <div className="grid-2">
        <div className="stack">
          <h2>Variables</h2>
          <JsonView value={execution.variables} label="variables" />
        </div>
        <div className="stack">
          <h2>Parameters</h2>
          <JsonView value={execution.parameters} label="parameters" />
        </div>
        {execution.tools && (
          <div className="stack">
            <h2>Tools</h2>
            <JsonView value={execution.tools} label="tools" />
          </div>
        )}
        {metadata && (
          <div className="stack">
            <h2>Metadata</h2>
            <JsonView value={execution.metadata} label="metadata" />
          </div>
        )}
        {execution.includes.length > 0 && (
          <div className="stack">
            <h2>Includes</h2>
            <ul>
              {execution.includes.map(({ name, version }) => (
                <li key={name}>
                  <PromptLink name={name} version={version} />
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </>
  );
}
