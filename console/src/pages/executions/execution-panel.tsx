import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronUp, Maximize2, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { Loading, QueryState } from '../../components/states.tsx';
import { executionQuery } from '../../queries.ts';
import { hasDialog } from '../../shell/single-keys.ts';
import { ExecutionActions } from './execution-actions.tsx';

// Loaded lazily, so that the list appears first.
const ExecutionDetails = lazy(async () => ({ default: (await import('./execution-details.tsx')).ExecutionDetails }));

/** An execution next to the list. Escape closes it; `j` and `k` belong to the list. Without room for both, it replaces the list. */
export function ExecutionPanel({
  id,
  onStep,
  onClose,
}: {
  id: string;
  /** Goes to the next or previous one; undefined if there is none. */
  onStep: Record<'next' | 'before', (() => void) | undefined>;
  onClose: () => void;
}) {
  const query = useQuery(executionQuery(id));
  const heading = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const latest = useRef(onClose);
  useEffect(() => {
    latest.current = onClose;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another execution is shown from its top
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    body.current?.scrollTo({ top: 0 });
  }, [id]);
  useEffect(() => {
    const press = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === 'Escape' && !defaultPrevented && !hasDialog()) latest.current();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <section className="execution-panel" aria-labelledby="execution-panel-title">
      <div className="execution-panel-head">
        <h2 id="execution-panel-title" ref={heading} tabIndex={-1}>
          Execution {id.slice(-12)}
        </h2>
        <div className="row">
          <Button
            look="small"
            aria-label="The execution before"
            title="The execution before (k)"
            disabled={onStep.before === undefined}
            onClick={onStep.before}
          >
            <ChevronUp size={16} aria-hidden />
          </Button>
          <Button
            look="small"
            aria-label="The next execution"
            title="The next execution (j)"
            disabled={onStep.next === undefined}
            onClick={onStep.next}
          >
            <ChevronDown size={16} aria-hidden />
          </Button>
          <Link to="/executions/$id" params={{ id }} className="button small">
            <Maximize2 size={16} aria-hidden />
            Full page
          </Link>
          <Button look="small" aria-label="Close" title="Close (Escape)" onClick={onClose}>
            <X size={16} aria-hidden />
          </Button>
        </div>
      </div>
      <div className="execution-panel-body" ref={body}>
        {query.data && (
          <div className="row execution-panel-actions">
            <ExecutionActions execution={query.data} onDeleted={onClose} />
          </div>
        )}
        <QueryState query={query} what="the execution">
          {(execution) => (
            <Suspense fallback={<Loading what="the execution" />}>
              <ExecutionDetails execution={execution} />
            </Suspense>
          )}
        </QueryState>
      </div>
    </section>
  );
}
