import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { publicId } from '../../domain/ids.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { MAX_BODY_BYTES_WITH_FILES } from '../../http/json-body.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { RecordedRun } from '../../services/executions/recording/recorded-run.ts';
import { RecordedRuns, RecordRuns, toRun } from './record-schema.ts';
import { executionSample, recordBodies } from './samples.ts';

/** Runs that applications executed themselves. */
export function recordRoutes(deps: {
  idempotency: Idempotency;
  /** Prepares runs. @returns stores them and returns the UUIDs of their executions */
  record: (db: WorkspaceDatabase, runs: readonly RecordedRun[]) => Promise<(query: Query) => Promise<string[]>>;
}): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/executions/record',
      operationId: 'recordExecutions',
      audit: 'none',
      tag: 'Executions',
      summary: 'Record runs made outside the service',
      description:
        'Stores up to 1,000 model calls that an application made itself, as ended executions (`recorded`): all of them or, with a 400, ' +
        'none. They are listed, counted and copied to datasets like other executions, but send no webhook events. With a `trace_id` they are steps of that trace.',
      scope: ['ingest', 'execute'],
      status: 201,
      idempotent: true,
      body: RecordRuns,
      maxBodyBytes: MAX_BODY_BYTES_WITH_FILES,
      bodyExamples: recordBodies,
      response: RecordedRuns,
      responseExample: { ids: [executionSample.id] },
      errors: ['quota_exceeded'],
      async handler(request) {
        const record = await deps.record(request.db, request.body.records.map(toRun));
        return deps.idempotency.createOnce(request, async (query) => {
          const stored = await record(query);
          const ids = stored.map((id) => publicId('execution', id));
          return { resourceId: ids[0] ?? '', response: { ids } };
        });
      },
    }),
  ];
}
