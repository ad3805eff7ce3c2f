import { queryOptions } from '@tanstack/react-query';
import { get, type Page, pathOf } from '../../api.ts';
import type { Trace, TraceStep, WholeTraceStep } from '../../api-types.ts';
import { recordQuery } from '../../queries.ts';

/** Refetch interval of a running trace. */
const REFETCH_MS = 2_000;
/** The same for a large trace, because all of its steps are refetched. */
const REFETCH_MANY_MS = 10_000;
const MANY_STEPS = 2_000;
/** The largest page of the API. */
const PAGE = 10_000;

/** A trace, refetched until no more steps are expected. */
export const traceQuery = (id: string) =>
  queryOptions({
    ...recordQuery<Trace>('traces', id),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined || data.settled) return false;
      return data.steps > MANY_STEPS ? REFETCH_MANY_MS : REFETCH_MS;
    },
  });

/** Changes when steps arrive or end. */
const stateOf = ({ steps, status, settled, errors, ended_at, calls, cost }: Trace) =>
  JSON.stringify([steps, status, settled, errors, ended_at, calls, cost.amount]);

async function readSteps(id: string, signal: AbortSignal): Promise<TraceStep[]> {
  const steps: TraceStep[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<TraceStep> = await get(pathOf('traces', id, 'steps'), { limit: PAGE, cursor }, signal);
    steps.push(...page.data);
    cursor = page.next_cursor;
  }
  return steps;
}

/** All steps of a trace in its current state. Previous ones stay until the new ones have arrived. */
export const stepsQuery = (trace: Trace) =>
  queryOptions({
    queryKey: ['traces', 'steps', trace.id, stateOf(trace)],
    queryFn: ({ signal }) => readSteps(trace.id, signal),
    placeholderData: (before, query) => (query?.queryKey[2] === trace.id ? before : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    // Steps can be large.
    gcTime: 30_000,
  });

/** A step with its texts. */
export const stepQuery = (trace: Trace, id: string, status: string | undefined) =>
  queryOptions({
    queryKey: ['traces', 'step', trace.id, id, status, trace.settled],
    queryFn: ({ signal }) => get<WholeTraceStep>(pathOf('traces', trace.id, 'steps', id), undefined, signal),
    // An ended step does not change.
    staleTime: 60_000,
  });
