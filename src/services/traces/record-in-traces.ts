import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { traceIdOf } from '../../domain/ids.ts';
import { mapPaced } from '../../lib/event-loop.ts';
import { recordRuns } from '../executions/recording/record-runs.ts';
import type { RecordedRun } from '../executions/recording/recorded-run.ts';
import { daysOf, type IngestDeps, lockTraces, tracesOf } from './ingest-steps.ts';
import { joinRuns } from './join-runs.ts';
import { sumUpTraces } from './sum-up-traces.ts';
import { createMasker, keptRun, readTracePolicy } from './trace-policy.ts';

export interface RecordDeps extends IngestDeps {
  /** Retention of traces: older runs are recorded without one. */
  retentionMs: number;
}

/**
 * Stores runs that an application made itself; those that name a trace become steps of it. @returns a function that does so in the caller's
 * transaction, as {@link recordRuns} does
 */
export async function recordInTraces(
  deps: RecordDeps,
  db: WorkspaceDatabase,
  given: readonly RecordedRun[],
): Promise<(query: Query) => Promise<string[]>> {
  const policy = await readTracePolicy(db.query);
  const mask = createMasker(policy);
  const runs = await mapPaced(given, (run) => keptRun(run, policy, mask));
  const oldest = Date.now() - deps.retentionMs;
  const steps = runs.flatMap(({ trace, startedAt }) =>
    trace === undefined || startedAt.getTime() < oldest
      ? []
      : [{ traceId: traceIdOf(trace.id), startedAt: startedAt.getTime() * 1000 }],
  );
  const traces = tracesOf(steps);
  await deps.partitions.ensure(traces.flatMap(({ first, last }) => [first, last]));
  return async (query) => {
    if (traces.length === 0) return recordRuns(deps, query, runs);
    const stored = await lockTraces(query, traces);
    const uuids = stored.map(({ id }) => id);
    const ids = await recordRuns(deps, query, runs);
    await joinRuns(query, uuids);
    await sumUpTraces(query, uuids, daysOf(stored));
    return ids;
  };
}
