import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcileExecutions } from '../../src/jobs/reconcile-executions.ts';
import { executionWorkflowId } from '../../src/temporal/names.ts';
import { startWorkers } from '../../src/worker.ts';
import { type ExecutionRows, executionRows } from '../support/processes-rows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/wait-for.ts';

/** Without workers, so that reconciliation happens only on command. */
let service: TestService;
let rows: ExecutionRows;
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'its job goes over all workspaces' });
  rows = await executionRows(service.dependencies.db);
});
afterAll(() => service?.stop());

function reconcile(): Promise<void> {
  const { db, client, taskQueues, log } = service.dependencies;
  return reconcileExecutions({ db, starter: { client, taskQueues, eager: false }, log });
}

const handleOf = (id: string) => service.dependencies.client.workflow.getHandle(executionWorkflowId(id));
const isKnown = (id: string) =>
  handleOf(id)
    .describe()
    .then(
      () => true,
      () => false,
    );
const OLD = { ageSeconds: 31, model: 'sandbox/echo' };

test('starts the workflow of an execution that has waited for over 30 seconds, and no younger one', async () => {
  const [old, young] = [await rows.queue(OLD), await rows.queue({ ...OLD, ageSeconds: 20 })];
  await reconcile();
  expect(await isKnown(old)).toBe(true);
  expect(await isKnown(young)).toBe(false);
  const { staticSummary } = await handleOf(old).describe();
  expect(await staticSummary?.()).toBe('greet v1 on sandbox/echo');
  await handleOf(old).terminate();
});

test('withdraws an execution that no caller knows, with its key, instead of starting it', async () => {
  const id = await rows.queue({ ...OLD, accepted: false });
  await service.dependencies.db.system.query(
    {
      text: `insert into idempotency_keys (workspace_id, id, key, request_hash, resource_id, created_at)
             select workspace_id, gen_random_uuid(), 'again', '', id::text, now() from executions where id = $1`,
    },
    [id],
  );
  await reconcile();
  await expect(rows.read(id)).rejects.toThrow('There is no execution');
  expect(await isKnown(id)).toBe(false);
  expect(await service.dependencies.db.system.query({ text: 'select from idempotency_keys' })).toEqual([]);
});

test('checks an execution once in 30 seconds, in only one process', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => rows.queue(OLD)));
  await Promise.all([reconcile(), reconcile(), reconcile()]);
  expect(await Promise.all(ids.map(isKnown))).toEqual(ids.map(() => true));
  const checked = await Promise.all(ids.map(async (id) => (await rows.read(id))['check_at']));
  await reconcile();
  expect(await Promise.all(ids.map(async (id) => (await rows.read(id))['check_at']))).toEqual(checked);
  await Promise.all(ids.map((id) => handleOf(id).terminate()));
});

test('ignores a running workflow', async () => {
  const id = await rows.queue(OLD);
  await reconcile();
  await rows.ageCheck(id);
  await reconcile();
  expect(await rows.read(id)).toMatchObject({ status: 'queued' });
  await handleOf(id).terminate();
});

test('ends an execution whose workflow an operator terminated', async () => {
  const id = await rows.queue(OLD);
  await reconcile();
  await handleOf(id).terminate('not wanted');
  await rows.ageCheck(id);
  await reconcile();
  expect(await rows.read(id)).toMatchObject({
    status: 'failed',
    error: { code: 'model_unavailable', message: expect.stringContaining('An operator ended the run') },
  });
  expect(await rows.events(id)).toEqual(['execution.failed']);
});

test('completes an answered execution whose workflow was terminated', async () => {
  const id = await rows.queue({ ...OLD, status: 'running', answered: true });
  await reconcile();
  await handleOf(id).terminate();
  await rows.ageCheck(id);
  await reconcile();
  expect(await rows.read(id)).toMatchObject({ status: 'completed', output: 'an answer' });
  expect(await rows.events(id)).toEqual(['execution.completed']);
});

test('an execution that Temporal refuses delays no other', async () => {
  // Longer than Temporal accepts as a search attribute.
  const refused = await rows.queue({ ...OLD, promptName: 'x'.repeat(5_000) });
  const next = await rows.queue(OLD);
  await reconcile();
  expect(await isKnown(refused)).toBe(false);
  expect(await isKnown(next)).toBe(true);
  await handleOf(next).terminate();
  await rows.remove(refused);
});

test('handles more than one batch', async () => {
  const ids = await Promise.all(Array.from({ length: 205 }, () => rows.queue({ ...OLD, status: 'running' })));
  // One pass takes ten seconds at most, which may not be enough on a busy machine.
  await until('the last to be started', async () => {
    await reconcile();
    return isKnown(ids.at(-1) ?? '');
  });
  await Promise.all(ids.map((id) => handleOf(id).terminate()));
});

test('a workflow of an orphan runs as soon as there is a worker', async () => {
  const id = await rows.queue({ ...OLD, input: 'an orphan' });
  await reconcile();
  const workers = await startWorkers(service.dependencies);
  await until('its end', async () => (await rows.read(id))['status'] === 'completed');
  expect(await rows.read(id)).toMatchObject({ output: 'an orphan', attempts: 1 });
  await workers.stop();
});
