import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkspaceDatabase } from '../../src/db/database.ts';
import { createExecutionWaiter, type ExecutionWaiter } from '../../src/services/execution-waiter.ts';
import { completeExecution } from '../../src/services/finish-execution.ts';
import { until } from '../support/processes.ts';
import { type ExecutionRows, executionRows } from '../support/processes-rows.ts';
import { startTestService, type TestService } from '../support/service.ts';

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

/** What a wait gives, and how long it took. */
async function timed(wait: Promise<{ status: string }>): Promise<{ status: string; ms: number }> {
  const from = performance.now();
  const { status } = await wait;
  return { status, ms: performance.now() - from };
}

test('answers as soon as the execution has ended', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  const [result] = await Promise.all([timed(expectation.wait(db, 20_000, never())), complete(id)]);
  expectation.done();
  expect(result.status).toBe('completed');
  expect(result.ms).toBeLessThan(2_000);
});

test('does not miss an end that comes before the wait begins', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  await complete(id);
  expect(await timed(expectation.wait(db, 20_000, never()))).toMatchObject({ status: 'completed' });
  expectation.done();
});

test('answers with the state as it is when the time is up or the caller is gone', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  expect(await timed(expectation.wait(db, 100, never()))).toMatchObject({ status: 'running' });
  expect((await timed(expectation.wait(db, 20_000, AbortSignal.timeout(100)))).ms).toBeLessThan(2_000);
  expect(await timed(expectation.wait(db, 0, never()))).toMatchObject({ status: 'running' });
  expectation.done();
});

test('wakes each of those who wait for the same execution', async () => {
  const id = await answered();
  const expectations = [waiter.expect(id), waiter.expect(id), waiter.expect(id)];
  expectations[0]?.done();
  const waits = expectations.slice(1).map((each) => timed(each.wait(db, 20_000, never())));
  await complete(id);
  for (const { status, ms } of await Promise.all(waits)) {
    expect(status).toBe('completed');
    expect(ms).toBeLessThan(2_000);
  }
});

test('hears of an end whose notification was lost with the connection', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  const wait = timed(expectation.wait(db, 20_000, never()));
  await service.foundation.db.system.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
  });
  await until('the loss', async () => !service.foundation.listener.connected());
  await complete(id);
  expect(await wait).toMatchObject({ status: 'completed' });
  expectation.done();
});
