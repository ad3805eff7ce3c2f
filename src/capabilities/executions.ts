import { chatCompletionRoutes } from '../api/chat-completions/routes.ts';
import { recordRoutes } from '../api/executions/record-routes.ts';
import { executionRoutes } from '../api/executions/routes.ts';
import { streamRoutes } from '../api/executions/stream-routes.ts';
import { modelRoutes } from '../api/models/routes.ts';
import { providerRoutes } from '../api/providers/routes.ts';
import { responseRoutes } from '../api/responses/routes.ts';
import type { WorkspaceDatabase } from '../db/database.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { inStates } from '../db/state-change.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { cleanUpStreams } from '../jobs/clean-up-streams.ts';
import { keepSearchIndex } from '../jobs/keep-search-index.ts';
import { reconcileExecutions } from '../jobs/reconcile-executions.ts';
import { endEach } from '../jobs/remove-workspaces.ts';
import { expireExecutions } from '../jobs/retention.ts';
import { RUN_TOOLS } from '../mcp/tools/run-tools.ts';
import { cancelExecutionWorkflow } from '../services/executions/execution-workflow.ts';
import type { RecordedRun } from '../services/executions/recording/recorded-run.ts';
import { cancelExecution } from '../services/executions/run/end-execution.ts';
import { recordInTraces } from '../services/traces/record-in-traces.ts';
import { type ApiParts, type Capability, CLEAN_UP_EVERY_MS, reconciling } from './capability.ts';

const CLEAN_UP_STREAMS_EVERY_MS = 60_000;
const INDEX_EVERY_MS = 2_000;

/** Recorded runs can be steps of traces. */
function recorder({ settings, ...parts }: Pick<ApiParts, 'models' | 'quotas' | 'partitions' | 'settings'>) {
  const deps = { ...parts, retentionMs: settings.retention.traces };
  return (workspace: WorkspaceDatabase, runs: readonly RecordedRun[]) => recordInTraces(deps, workspace, runs);
}

export const executions: Capability = {
  name: 'executions',
  routes: (parts) => [
    ...executionRoutes(parts),
    ...recordRoutes({ ...parts, record: recorder(parts) }),
    ...chatCompletionRoutes(parts),
    ...responseRoutes(parts),
    ...modelRoutes(),
    ...providerRoutes(parts.models),
    ...streamRoutes(parts),
  ],
  tools: RUN_TOOLS,
  jobs: (parts) => [
    reconciling(parts, 'executions', reconcileExecutions),
    {
      name: 'clean up streams',
      everyMs: CLEAN_UP_STREAMS_EVERY_MS,
      run: (stopping) => cleanUpStreams(parts.db.system, stopping),
    },
    {
      name: 'keep the search index',
      everyMs: parts.searchIndex ? INDEX_EVERY_MS : CLEAN_UP_EVERY_MS,
      run: (stopping) => keepSearchIndex(parts.db.system, parts.searchIndex, parts.log, stopping),
      atOnce: true,
    },
  ],
  end: ({ client, log, onExecutionEnd }, workspace, signal) =>
    endEach(workspace, 'executions', inStates(executionStates, UNFINISHED_EXECUTION), signal, async (id) => {
      await cancelExecution(workspace, id, onExecutionEnd);
      await cancelExecutionWorkflow(client, id, log);
    }),
  rows: [
    toDelete('stream_deltas', () => everyRow),
    toDelete('executions', (eb) => ({
      where: inStates(executionStates, executionStates.final),
      bytes: eb.ref('bytes'),
      byId: true,
    })),
  ],
  expired: ({ executions: forMs }) =>
    forMs === undefined ? [] : [(db, signal) => expireExecutions(db, forMs, signal)],
};
