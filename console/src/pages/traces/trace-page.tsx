import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Trace } from '../../api-types.ts';
import { PromptLink, StatusBadge } from '../../components/badges.tsx';
import { DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Fact } from '../../components/fact.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { QueryState } from '../../components/states.tsx';
import { formatCost, formatMs, formatNumber, formatTime, plural } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { AddToQueueDialog } from '../executions/add-to-queue-dialog.tsx';
import { ScoresSection } from '../scores/scores-section.tsx';
import { stepsQuery, traceQuery } from './queries.ts';
import { traceRoute } from './routes.ts';
import { TraceSteps } from './trace-steps.tsx';
import { titleOf } from './trace-title.ts';
import './traces.css';

export function TracePage() {
  const { id } = traceRoute.useParams();
  const client = useQueryClient();
  const query = useQuery(traceQuery(id));
  return (
    <RecordPage
      title={query.data ? titleOf(query.data) : `Trace ${id.slice(-12)}`}
      list={{ to: '/traces', label: 'Traces', back: 'Back to traces' }}
      id={id}
      actions={query.data && <TraceActions trace={query.data} />}
      missing="No spans of this trace have been received, or it was deleted"
      query={query}
      what="the trace"
    >
      {(trace) => (
        <>
          <TraceFacts trace={trace} />
          <Gaps trace={trace} />
          <Steps key={trace.id} trace={trace} />
          <ScoresSection
            scores={trace.scores ?? []}
            subject={{ trace_id: trace.id }}
            onChanged={() => client.invalidateQueries({ queryKey: traceQuery(id).queryKey })}
          />
        </>
      )}
    </RecordPage>
  );
}

function TraceActions({ trace: { id, conversation_id } }: { trace: Trace }) {
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  return (
    <>
      {conversation_id !== null && (
        <Link to="/conversations/$" params={{ _splat: conversation_id }} className="button">
          Conversation
        </Link>
      )}
      {mayWrite && (
        <DialogButton
          label="Add to a queue…"
          dialog={(close) => <AddToQueueDialog ids={[id]} of="traces" onClose={close} />}
        />
      )}
      {mayWrite && (
        <DeleteButton
          resource="traces"
          id={id}
          title="Delete this trace?"
          description="This deletes its steps and the executions recorded from them. Their tokens and cost still count in the usage."
          done="The trace was deleted."
          onDeleted={() => navigate({ to: '/traces' })}
        />
      )}
    </>
  );
}

function TraceFacts({ trace }: { trace: Trace }) {
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
function Gaps({ trace: { settled, incomplete } }: { trace: Trace }) {
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

function Steps({ trace }: { trace: Trace }) {
  const query = useQuery(stepsQuery(trace));
  return (
    <QueryState query={query} what="the steps">
      {(steps) => <TraceSteps trace={trace} steps={steps} />}
    </QueryState>
  );
}
