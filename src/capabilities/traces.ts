import { datasetFromTracesRoute } from '../api/traces/dataset-route.ts';
import { ingestRoute } from '../api/traces/ingest-route.ts';
import { traceRoutes } from '../api/traces/routes.ts';
import type { Query } from '../db/database.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { settleTraces } from '../jobs/settle-traces.ts';
import { TRACE_TOOLS } from '../mcp/tools/trace-tools.ts';
import { correctMinutes } from '../services/monitors/sum-up-runs.ts';
import { noteForQueues } from '../services/queues/note-for-queues.ts';
import { countForReleases } from '../services/releases/count-trace.ts';
import { putInRules } from '../services/rules/put-in-rules.ts';
import { countTrace } from '../services/traces/count-trace.ts';
import { expireTraces } from '../services/traces/delete-traces.ts';
import type { Capability } from './capability.ts';

const SETTLE_EVERY_MS = 2_000;

/** Counts a settled trace for releases and monitors, and puts it before rules and queues. */
async function onSettled(query: Query, trace: string): Promise<void> {
  const counted = await countTrace(query, trace);
  if (counted !== undefined) {
    await countForReleases(query, counted.before, counted.now);
    if (counted.before !== null) await correctMinutes(query, trace, counted.before);
  }
  await putInRules(query, trace);
  await noteForQueues(query, trace);
}

export const traces: Capability = {
  name: 'traces',
  routes: (parts) => [
    ingestRoute({ ...parts, retentionMs: parts.settings.retention.traces }),
    ...traceRoutes(),
    datasetFromTracesRoute(parts),
  ],
  tools: TRACE_TOOLS,
  jobs: ({ db, models, log }) => [
    {
      name: 'settle traces',
      everyMs: SETTLE_EVERY_MS,
      run: (stopping) => settleTraces({ models, onSettled }, db, log, stopping),
    },
  ],
  rows: [
    toDelete('trace_policies', () => everyRow),
    toDelete('traces', () => everyRow),
    toDelete('trace_steps', (eb) => ({ ...everyRow, bytes: eb.ref('bytes') })),
  ],
  expired: ({ traces: forMs }) => (forMs === undefined ? [] : [(db, signal) => expireTraces(db, forMs, signal)]),
};
