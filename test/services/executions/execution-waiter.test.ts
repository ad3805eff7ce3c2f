import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkspaceDatabase } from '../../../src/db/database.ts';
import { createExecutionWaiter, type ExecutionWaiter } from '../../../src/services/executions/execution-waiter.ts';
import { completeExecution } from '../../../src/services/executions/store-response.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

let service: TestService;
let rows: ExecutionRows;
let waiter: ExecutionWaiter;
let db: WorkspaceDatabase;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  rows = await executionRows(service.foundation.db);
  waiter = createExecutionWaiter(service.foundation.listener);
  await until('the listener', async () => service.foundation.listener.connected());
  const id = await rows.queue({});
  db = service.foundation.db.workspace(String((await rows.read(id))['workspace_id']));
});
afterAll(() => service?.stop());

const never = () => new AbortController().signal;
const answered = () => rows.queue({ status: 'running', answered: true });
const complete = (id: string) => completeExecution(service.foundation.db.system.query, id);

/** Longer than a test may take: a wait that ends has been woken. */
const FOR_EVER_MS = 3_600_000;

test('answers as soon as the execution has ended', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  const [result] = await Promise.all([expectation.wait(db, FOR_EVER_MS, never()), complete(id)]);
  expectation.done();
  expect(result.status).toBe('completed');
});

test('does not miss an end that comes before the wait begins', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  await complete(id);
  expect(await expectation.wait(db, FOR_EVER_MS, never())).toMatchObject({ status: 'completed' });
  expectation.done();
});

test('answers with the state as it is when the time is up or the caller is gone', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  expect(await expectation.wait(db, 100, never())).toMatchObject({ status: 'running' });
  const gone = AbortSignal.timeout(100);
  expect(await expectation.wait(db, FOR_EVER_MS, gone)).toMatchObject({ status: 'running' });
  expect(await expectation.wait(db, 0, never())).toMatchObject({ status: 'running' });
  expectation.done();
});

test('wakes each of those who wait for the same execution', async () => {
  const id = await answered();
  const expectations = [waiter.expect(id), waiter.expect(id), waiter.expect(id)];
  expectations[0]?.done();
  const waits = expectations.slice(1).map((each) => each.wait(db, FOR_EVER_MS, never()));
  await complete(id);
  for (const { status } of await Promise.all(waits)) expect(status).toBe('completed');
});

test('hears of an end whose notification was lost with the connection', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  const wait = expectation.wait(db, FOR_EVER_MS, never());
  await service.foundation.db.system.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
  });
  await until('the loss', async () => !service.foundation.listener.connected());
  await complete(id);
  expect(await wait).toMatchObject({ status: 'completed' });
  expectation.done();
});
