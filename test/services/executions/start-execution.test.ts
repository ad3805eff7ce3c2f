import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import type { WorkspaceDatabase } from '../../../src/db/database.ts';
import { DatabaseUnavailableError } from '../../../src/db/errors.ts';
import { ACCEPT_WITHIN_MS } from '../../../src/domain/limits.ts';
import { EXECUTION } from '../../../src/services/acceptance/kinds.ts';
import { giveUp } from '../../../src/services/acceptance/withdrawal.ts';
import { startExecution } from '../../../src/services/executions/creation/start-execution.ts';
import { type StoredExecution, startExecutionWorkflow } from '../../../src/services/executions/execution-workflow.ts';
import { cancelExecution } from '../../../src/services/executions/run/end-execution.ts';
import { executionWorkflowId } from '../../../src/temporal/names.ts';
import { workflowState } from '../../../src/temporal/workflows.ts';
import { freePorts } from '../../support/processes.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

let service: TestService;
let rows: ExecutionRows;
let db: WorkspaceDatabase;
let away: Connection;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  rows = await executionRows(service.dependencies.db);
  const [port] = await freePorts(1);
  // Without the interceptor that would try again until the deadline.
  away = Connection.lazy({ address: `127.0.0.1:${port}`, interceptors: [] });
});
afterAll(async () => {
  await away?.close();
  await service?.stop();
});

async function queued(): Promise<StoredExecution> {
  const id = await rows.queue({ model: 'sandbox/echo', accepted: false });
  const workspaceId = String((await rows.read(id))['workspace_id']);
  db = service.dependencies.db.workspace(workspaceId);
  return { id, workspaceId, promptName: 'greet', promptVersion: 1, model: 'sandbox/echo', inputChars: 40 };
}

const starter = (client = service.dependencies.client) => ({
  client,
  taskQueues: service.dependencies.taskQueues,
  eager: false,
  startLimiter: { mayStart: async () => true },
  log: service.dependencies.log,
});
const toRun = (execution: StoredExecution) => ({ resourceId: execution.id, toStart: execution });

test('a started workflow is not restarted', async () => {
  const execution = await queued();
  expect(await startExecutionWorkflow(starter(), execution)).toBe(true);
  expect(await startExecutionWorkflow(starter(), execution)).toBe(false);
  const handle = service.dependencies.client.workflow.getHandle(executionWorkflowId(execution.id));
  await handle.terminate();
  expect(await startExecutionWorkflow(starter(), execution)).toBe(false);
});

test('an execution that failed to start is withdrawn, so that nothing runs later; a running one is not', async () => {
  const withdrawn = await queued();
  // The start reached Temporal, and only its answer was lost.
  const running = { ...(await queued()), id: await rows.queue({ status: 'running' }) };
  const unreachable = starter(new Client({ connection: away }));
  await Promise.all([
    expect(startExecution(unreachable, db, toRun(withdrawn))).rejects.toThrow(),
    startExecution(unreachable, db, toRun(running)),
  ]);
  await expect(rows.read(withdrawn.id)).rejects.toThrow('There is no execution');
  expect(await rows.read(running.id)).toMatchObject({ status: 'running' });
});

test('an execution others know of is not withdrawn: it will be started', async () => {
  const execution = { ...(await queued()), id: await rows.queue({ accepted: true }) };
  await startExecution(starter(new Client({ connection: away })), db, toRun(execution));
  expect(await rows.read(execution.id)).toMatchObject({ status: 'queued' });
});

test('a late turn is not waited for; an execution that has ended by then is not started, and a long wait is accepted', async () => {
  const wanted = await queued();
  const canceled = { ...wanted, id: await rows.queue({ accepted: true }) };
  const { promise: theirTurn, resolve: itIsTheirTurn } = Promise.withResolvers<boolean>();
  const deps = { ...starter(), startLimiter: { mayStart: () => theirTurn } };
  await Promise.all([canceled, wanted].map((execution) => startExecution(deps, db, toRun(execution), 1)));
  await until('what waits to be accepted', async () => (await rows.read(wanted.id))['accepted_at'] !== null);
  await cancelExecution(db, canceled.id);
  itIsTheirTurn(true);
  const { client } = service.dependencies;
  // Both continue at the same moment, the other one first.
  await until('the one that is wanted to be started', async () => {
    return (await workflowState(client, executionWorkflowId(wanted.id))) === 'running';
  });
  expect(await workflowState(client, executionWorkflowId(canceled.id))).toBe('missing');
});

test('an execution accepted by another request with the same key stays if this one never starts it', async () => {
  const execution = await queued();
  const accepted = await rows.queue({ accepted: true });
  for (const id of [execution.id, accepted]) await giveUp(EXECUTION, starter(), db, id, undefined);
  await until('the other to be withdrawn', () =>
    rows.read(execution.id).then(
      () => undefined,
      () => true,
    ),
  );
  expect(await rows.read(accepted)).toMatchObject({ status: 'queued' });
});

test('an execution reported as failed is deleted, canceled if it runs, and left if it has ended', async () => {
  const accepted = { ...(await queued()), id: await rows.queue({}) };
  const running = await rows.queue({ status: 'running' });
  const completed = await rows.queue({ status: 'completed', answered: true });
  for (const id of [accepted.id, running, completed]) await giveUp(EXECUTION, starter(), db, id, performance.now());
  await expect(rows.read(accepted.id)).rejects.toThrow('There is no execution');
  expect(await rows.read(running)).toMatchObject({ status: 'canceled' });
  expect(await rows.read(completed)).toMatchObject({ status: 'completed' });
});

test('a withdrawal during a database outage continues until it is over', async () => {
  const { id } = await queued();
  let isAway = true;
  const flaky = {
    ...db,
    query: ((...args: Parameters<typeof db.query>) =>
      isAway
        ? Promise.reject(new DatabaseUnavailableError(new Error('away')))
        : db.query(...args)) as WorkspaceDatabase['query'],
  };
  // It can no longer start, so its caller need not wait.
  await giveUp(EXECUTION, starter(), flaky, id, performance.now() - ACCEPT_WITHIN_MS);
  expect(await rows.read(id)).toMatchObject({ status: 'queued' });
  isAway = false;
  await until('the withdrawal', async () =>
    rows.read(id).then(
      () => false,
      () => true,
    ),
  );
});
