import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, linkOptions } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { OutputView } from '../../components/output-view.tsx';
import { PeekPanel } from '../../components/peek-panel.tsx';
import { QueryState } from '../../components/states.tsx';
import { plural } from '../../format.ts';
import { ScoresSection } from '../scores/scores-section.tsx';
import { traceQuery } from './queries.ts';
import { TraceActions } from './trace-actions.tsx';
import { Gaps, TraceFacts } from './trace-facts.tsx';
import { titleOf } from './trace-title.ts';

/** A trace next to the list, without its steps. */
export function TracePanel({
  id,
  onStep,
  onClose,
}: { id: string } & Pick<ComponentProps<typeof PeekPanel>, 'onStep' | 'onClose'>) {
  const client = useQueryClient();
  const query = useQuery(traceQuery(id));
  return (
    <PeekPanel
      id={id}
      title={query.data ? titleOf(query.data) : `Trace ${id.slice(-12)}`}
      page={linkOptions({ to: '/traces/$id', params: { id } })}
      onStep={onStep}
      onClose={onClose}
      actions={query.data && <TraceActions trace={query.data} onDeleted={onClose} />}
    >
      <QueryState query={query} what="the trace">
        {(trace) => (
          <>
            <TraceFacts trace={trace} />
            <Gaps trace={trace} />
            {[
              { title: 'Output', text: trace.output },
              { title: 'Input', text: trace.input },
            ].map(
              ({ title, text }) =>
                text !== null && (
                  <div key={title} className="stack">
                    <h3>{title}</h3>
                    <OutputView text={text} label={title} />
                  </div>
                ),
            )}
            <p>
              <Link to="/traces/$id" params={{ id }}>
                Show {plural(trace.steps, 'step', 'steps')}
              </Link>
            </p>
            <ScoresSection
              scores={trace.scores ?? []}
              subject={{ trace_id: trace.id }}
              onChanged={() => client.invalidateQueries({ queryKey: traceQuery(id).queryKey })}
            />
          </>
        )}
      </QueryState>
    </PeekPanel>
  );
}
