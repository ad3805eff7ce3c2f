import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Trace } from '../../api-types.ts';
import { RecordPage } from '../../components/record-page.tsx';
import { QueryState } from '../../components/states.tsx';
import { ScoresSection } from '../scores/scores-section.tsx';
import { stepsQuery, traceQuery } from './queries.ts';
import { traceRoute } from './routes.ts';
import { TraceActions } from './trace-actions.tsx';
import { Gaps, TraceFacts } from './trace-facts.tsx';
import { TraceSteps } from './trace-steps.tsx';
import { titleOf } from './trace-title.ts';
import './traces.css';

export function TracePage() {
  const { id } = traceRoute.useParams();
  const client = useQueryClient();
  const navigate = useNavigate();
  const query = useQuery(traceQuery(id));
  return (
    <RecordPage
      title={query.data ? titleOf(query.data) : `Trace ${id.slice(-12)}`}
      list={{ to: '/traces', label: 'Traces', back: 'Back to traces' }}
      id={id}
      actions={query.data && <TraceActions trace={query.data} onDeleted={() => navigate({ to: '/traces' })} />}
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

function Steps({ trace }: { trace: Trace }) {
  const query = useQuery(stepsQuery(trace));
  return (
    <QueryState query={query} what="the steps">
      {(steps) => <TraceSteps trace={trace} steps={steps} />}
    </QueryState>
  );
}
