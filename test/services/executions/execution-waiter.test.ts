import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkspaceDatabase } from '../../../src/db/database.ts';
import { createExecutionWaiter, type ExecutionWaiter } from '../../../src/services/executions/execution-waiter.ts';
import { getExecution, type SeenExecution, wholeExecution } from '../../../src/services/executions/executions.ts';
import { completeExecution } from '../../../src/services/executions/run/store-response.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

let service: TestService;
let rows: ExecutionRows;
let waiter: ExecutionWaiter;
let db: WorkspaceDatabase;
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'cuts connections of the service' });
  rows = await executionRows(service.dependencies.db);
  waiter = createExecutionWaiter(service.dependencies.listener);
  await until('the listener', async () => service.dependencies.listener.connected());
  const id = await rows.queue({});
  db = service.dependencies.db.workspace(String((await rows.read(id))['workspace_id']));
});
afterAll(() => service?.stop());

const never = () => new AbortController().signal;
const answered = () => rows.queue({ status: 'running', answered: true });
const complete = (id: string) => completeExecution(service.dependencies.db.system.query, id);

const whole = (seen: SeenExecution) =>
  wholeExecution({ db, reserve: async () => {}, turn: async () => () => {} }, seen);

/** Longer than a test: a wait that ends was woken. */
const FOR_EVER_MS = 3_600_000;

test('answers as soon as the execution has ended', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  const [result] = await Promise.all([expectation.wait(db, FOR_EVER_MS, never()), complete(id)]);
  expectation.done();
  expect(result.status).toBe('completed');
});

describe('a notified execution', () => {
  const unread: WorkspaceDatabase['query'] = () => Promise.reject(new Error('It was read.'));

  test('is not read again', async () => {
    const id = await answered();
    await service.dependencies.db.system.query(
      {
        text: `update executions set input_messages = '[{"role": "user", "content": "„Hi“ \\u2028"}]', tools = '[{"name": "f", "input_schema": {}}]',
          tool_choice = '"auto"', metadata = '{"a": "b"}', parameters = '{"temperature": 0.1}', variables = '{"n": 12345678901234567890.5, "z": null}',
          attempts = 2, calls = '[{"model": "openai/gpt-4o-mini", "started_at": "2026-01-01T00:00:00.123+00:00", "cost": "0.000000000001"}]',
          tokens_input = 3000000000, cost_amount = 0.100000000000, pricing = '{"input": "1"}', model_ms = 17, started_at = now(), output = $2 where id = $1`,
      },
      [id, 'line\n"quoted" \\ \u{1f600} äöü'],
    );
    const expectation = waiter.expect(id);
    const [told] = await Promise.all([expectation.wait({ ...db, query: unread }, FOR_EVER_MS, never()), complete(id)]);
    expectation.done();
    expect(told.row).toStrictEqual(await getExecution(db, id));
    expect(told.row).toMatchObject({ status: 'completed', cost_amount: '0.100000000000', tokens_input: 3_000_000_000 });
  });

  test.each(['["completed"]', '{"status": "completed"}', 'completed', '['])('is not used if it is %s', async (told) => {
    const id = await answered();
    const expectation = waiter.expect(id);
    const wait = expectation.wait(db, FOR_EVER_MS, never());
    const { query } = service.dependencies.db.system;
    await query({ text: `update executions set status = 'completed', finished_at = now() where id = $1` }, [id]);
    await query({ text: `select pg_notify('execution_finished', $1::text || $2::text)` }, [id, told]);
    expect((await wait).row).toStrictEqual(await getExecution(db, id));
    expectation.done();
  });

  test.each([7_000, 7_100, 7_200, 7_300, 7_400, 7_500, 7_600, 7_700, 7_800, 7_900, 8_000, 100_000])(
    'is the stored one with an output of %i bytes, sent or read',
    async (bytes) => {
      const id = await answered();
      await service.dependencies.db.system.query({ text: 'update executions set output = $2 where id = $1' }, [
        id,
        'ä'.repeat(bytes / 2),
      ]);
      const expectation = waiter.expect(id);
      const [result] = await Promise.all([expectation.wait(db, FOR_EVER_MS, never()), complete(id)]);
      expectation.done();
      expect(await whole(result)).toStrictEqual(await getExecution(db, id));
    },
  );
});

test('a long execution is read once on display, and not while it is awaited', async () => {
  const id = await answered();
  const output = 'x'.repeat(100_000);
  await service.dependencies.db.system.query({ text: 'update executions set output = $2 where id = $1' }, [id, output]);
  const expectation = waiter.expect(id);
  const seen = await expectation.wait(db, 0, never());
  expectation.done();
  expect(seen).toMatchObject({ status: 'running', row: undefined });
  const reserved: number[] = [];
  const reserve = async (bytes: number) => void reserved.push(bytes);
  const row = await wholeExecution({ db, reserve, turn: async () => () => {} }, seen);
  expect(row.output).toBe(output);
  expect(reserved[0]).toBeGreaterThan(100_000);
});

test('does not miss an end that comes before the wait begins', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  await complete(id);
  expect(await expectation.wait(db, FOR_EVER_MS, never())).toMatchObject({ status: 'completed' });
  expectation.done();
});

test('answers with the current state when the time is up or the caller is gone', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  expect(await expectation.wait(db, 100, never())).toMatchObject({ status: 'running' });
  const gone = AbortSignal.timeout(100);
  expect(await expectation.wait(db, FOR_EVER_MS, gone)).toMatchObject({ status: 'running' });
  expect(await expectation.wait(db, 0, never())).toMatchObject({ status: 'running' });
  expectation.done();
});

test('wakes everyone that waits for the same execution', async () => {
  const id = await answered();
  const expectations = [waiter.expect(id), waiter.expect(id), waiter.expect(id)];
  expectations[0]?.done();
  const waits = expectations.slice(1).map((each) => each.wait(db, FOR_EVER_MS, never()));
  await complete(id);
  for (const { status } of await Promise.all(waits)) expect(status).toBe('completed');
});

test('notices an end whose notification was lost with the connection', async () => {
  const id = await answered();
  const expectation = waiter.expect(id);
  const wait = expectation.wait(db, FOR_EVER_MS, never());
  await service.dependencies.db.system.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
  });
  await until('the loss', async () => !service.dependencies.listener.connected());
  await complete(id);
  expect(await wait).toMatchObject({ status: 'completed' });
  expectation.done();
});
