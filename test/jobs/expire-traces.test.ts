import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CAPABILITIES } from '../../src/capabilities.ts';
import { openDatabase } from '../../src/db/database.ts';
import { removeWorkspaces } from '../../src/jobs/remove-workspaces.ts';
import { expireTraces } from '../../src/services/traces/delete-traces.ts';
import { createPartitions, dayOf, dropDaysBefore } from '../../src/services/traces/partitions.ts';
import { modelCall, newTraceId, send, span, stepsOf } from '../api/traces/traces-support.ts';
import { createOtherWorkspace } from '../api/workspace.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

const DAY_MS = 24 * 60 * 60_000;
let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const { signal } = new AbortController();
const days = async () =>
  (
    await service.dependencies.db.system.query<{ name: string }>({
      text: `select relid::regclass::text as name from pg_partition_tree('trace_steps') where level = 1 order by 1`,
    })
  ).map(({ name }) => name);

test('expired days of steps are dropped, with their traces; their executions and usage stay', async () => {
  const { call } = await createOtherWorkspace(service, 'expiring');
  const [old, recent] = [newTraceId(), newTraceId()];
  await send(call, [span({ traceId: old, at: Date.now() - 3 * DAY_MS, attributes: modelCall(5, 5) })]);
  await send(call, [span({ traceId: recent, attributes: modelCall(6, 6) })]);
  expect(await days()).toHaveLength(2);
  await expireTraces(service.dependencies.db.system, 2 * DAY_MS, signal);
  expect(await days()).toHaveLength(1);
  expect((await call('GET', `/traces/${old}`)).status).toBe(404);
  expect(await stepsOf({ call }, recent)).toHaveLength(1);
  expect((await call('GET', '/executions')).body.data).toHaveLength(2);
  // A late step makes its day be created again.
  await send(call, [span({ traceId: old, at: Date.now() - 3 * DAY_MS })]);
  expect(await stepsOf({ call }, old)).toHaveLength(1);
});

test('a day is dropped while steps of another one are read and stored, and not while it is used', async () => {
  const database = await createTestDatabase();
  const db = await openDatabase(database.url, { poolSize: 4 });
  try {
    const day = dayOf(Date.now() * 1000);
    const partitions = createPartitions(db.system);
    await partitions.ensure([day - 2, day]);
    await partitions.ensure([day]);
    await createPartitions(db.system).ensure([day, day - 2]);
    await db.system.transaction(async (query) => {
      await query((all) => all.selectFrom('trace_steps').select('span_id'));
      await expect(dropDaysBefore(db.system, day, signal)).rejects.toThrow();
    });
    expect(await dropDaysBefore(db.system, day, signal)).toBe(1);
    expect(await dropDaysBefore(db.system, day, signal)).toBe(0);
  } finally {
    await db.close();
    await database.drop();
  }
});

test('removing a workspace deletes its traces, and no others', async () => {
  const [leaving, staying] = [
    await createOtherWorkspace(service, 'leaving'),
    await createOtherWorkspace(service, 'staying'),
  ];
  const traceId = newTraceId();
  for (const { call } of [leaving, staying])
    await send(call, [span({ traceId, attributes: modelCall(5, 5) }), span({ traceId, at: Date.now() - DAY_MS })]);
  const { db, client, taskQueues, log } = service.dependencies;
  await db.system.query({
    text: `update workspaces set deleted_at = now() - interval '2 hours' where name = 'leaving'`,
  });
  const deps = { db, starter: { client, taskQueues, eager: false }, log, capabilities: CAPABILITIES };
  for (let round = 0; round < 3; round += 1) await removeWorkspaces(deps, signal, 0);
  const left = await db.system.query((all) =>
    all.selectFrom('trace_steps').select(['workspace_id', 'trace_id']).distinct(),
  );
  expect(left.filter((row) => row.trace_id.replaceAll('-', '') === traceId)).toHaveLength(1);
  expect(await stepsOf(staying, traceId)).toHaveLength(2);
});
