import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import { newId, parsePublicId } from '../../src/domain/ids.ts';
import { reconcileSchedules } from '../../src/jobs/reconcile-schedules.ts';
import { storeSchedule } from '../../src/services/schedules/create-schedule.ts';
import type { ScheduledRequest } from '../../src/services/schedules/schedules.ts';
import { actInTemporal, dueTimes, readInTemporal } from '../../src/services/schedules/temporal-schedule.ts';
import { createDataConverter } from '../../src/temporal/data-converter.ts';
import { evaluationScheduleId } from '../../src/temporal/names.ts';
import { captureLog } from '../support/captured-log.ts';
import { overdueRows } from '../support/overdue-rows.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Without workers, so that reconciliation happens only on command. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'its job goes over all workspaces' });
});
afterAll(() => service?.stop());

test('a schedule that Temporal refuses delays no other, and is deferred', async () => {
  const { db, client, taskQueues } = service.dependencies;
  const { makeOverdue, secondsToCheck } = overdueRows(db.system.query, 'schedules');
  const { log, lines } = captureLog();
  const reconcile = () => reconcileSchedules({ db, starter: { client, taskQueues, eager: false }, log });
  const [workspace] = await db.system.query<{ id: string }>({ text: 'select id from workspaces' });
  const lost = async (cron: string) => {
    const id = newId();
    const request = { body: {}, parsed: { promptName: 'lost' } } as ScheduledRequest;
    await storeSchedule(db.workspace(workspace?.id ?? '').query, id, {
      name: 'lost',
      cron,
      timeZone: 'UTC',
      paused: false,
      request,
      evaluatorSecrets: null,
    });
    await db.system.query({ text: 'update schedules set accepted_at = now() where id = $1' }, [id]);
    await makeOverdue(id);
    return id;
  };
  const bad = await lost('99 99 * * *');
  const others = await Promise.all(Array.from({ length: 30 }, () => lost('0 3 * * *')));
  await reconcile();
  expect(await dueTimes({ client }, bad)).toBeUndefined();
  for (const id of others) expect(await dueTimes({ client }, id)).toHaveLength(5);
  expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ table: 'schedules', id: bad }]);
  expect(await secondsToCheck(bad)).toBeGreaterThan(250);

  // The others are checked without it.
  await makeOverdue(...others);
  lines.length = 0;
  await reconcile();
  expect(lines).toEqual([]);
  for (const id of others) expect(await secondsToCheck(id)).toBeGreaterThan(250);
  await Promise.all(others.map((id) => service.call('DELETE', `/schedules/sched_${id}`)));
});

test('a schedule paused or resumed after the backup of the database follows its row', async () => {
  const { db, client, taskQueues } = service.dependencies;
  const { makeOverdue } = overdueRows(db.system.query, 'schedules');
  const { log, lines } = captureLog();
  const temporal = { client, taskQueues };
  await service.call('POST', '/prompts', { body: { name: 'restored', template: 'x', model: 'sandbox/echo' } });
  for (const paused of [false, true]) {
    const evaluation = {
      prompt_name: 'restored',
      examples: [{ variables: {} }],
      evaluators: [{ type: 'regex', pattern: 'x' }],
    };
    const { status, body } = await service.call('POST', '/schedules', {
      body: { name: `restored ${paused}`, cron: '0 3 * * *', paused, evaluation },
    });
    expect(status).toBe(201);
    const id = parsePublicId('schedule', body.id) ?? '';
    await actInTemporal(temporal, id, paused ? 'unpause' : 'pause');
    await makeOverdue(id);
    await reconcileSchedules({ db, starter: { ...temporal, eager: false }, log });
    expect(await readInTemporal(temporal, id)).toMatchObject({ paused });
    expect(lines.splice(0)).toMatchObject([{ schedule_id: id, paused }]);
    await makeOverdue(id);
    await reconcileSchedules({ db, starter: { ...temporal, eager: false }, log });
    expect(lines).toEqual([]);
  }
});

test('a schedule without the current key is re-encrypted; its next time and its pause stay', async () => {
  const { db, client: plain, taskQueues, connection } = service.dependencies;
  const { makeOverdue } = overdueRows(db.system.query, 'schedules');
  const { log } = captureLog();
  const [old, next] = [randomBytes(32), randomBytes(32)];
  const clientWith = (...keys: Buffer[]) =>
    new Client({ connection, dataConverter: createDataConverter({ encrypts: true, keys }) });
  await service.call('POST', '/prompts', { body: { name: 'encrypted', template: 'x', model: 'sandbox/echo' } });
  const evaluation = {
    prompt_name: 'encrypted',
    examples: [{ variables: {} }],
    evaluators: [{ type: 'regex', pattern: 'x' }],
  };
  const { status, body } = await service.call('POST', '/schedules', {
    body: { name: 'nightly', cron: '0 3 * * *', time_zone: 'Europe/Berlin', evaluation },
  });
  expect(status).toBe(201);
  const id = parsePublicId('schedule', body.id) ?? '';
  const due = await dueTimes({ client: plain }, id);
  const storedInput = async () => {
    const { schedule } = await plain.workflowService.describeSchedule({
      namespace: 'default',
      scheduleId: evaluationScheduleId(id),
    });
    const [payload] = schedule?.action?.startWorkflow?.input?.payloads ?? [];
    return Buffer.from(payload?.data ?? []).toString('base64');
  };
  const reconcileWith = async (client: Client) => {
    await makeOverdue(id);
    await reconcileSchedules({ db, starter: { client, taskQueues, eager: false }, log });
    return storedInput();
  };
  let before = await storedInput();
  expect(await reconcileWith(plain)).toBe(before);
  for (const client of [clientWith(old), clientWith(next, old)]) {
    const after = await reconcileWith(client);
    expect(after).not.toBe(before);
    expect(await readInTemporal({ client }, id)).toMatchObject({ isEncryptedAsNow: true });
    expect(await dueTimes({ client }, id)).toEqual(due);
    // Schedules in the correct state are left unchanged.
    expect(await reconcileWith(client)).toBe(after);
    before = after;
  }
  await actInTemporal({ client: plain }, id, 'pause');
  await db.system.query({ text: 'update schedules set paused = true where id = $1' }, [id]);
  // The old key is needed no more.
  expect(await readInTemporal({ client: clientWith(next) }, id)).toMatchObject({
    paused: true,
    isEncryptedAsNow: true,
  });
  const off = new Client({ connection, dataConverter: createDataConverter({ encrypts: false, keys: [next] }) });
  await reconcileWith(off);
  expect(await readInTemporal({ client: plain }, id)).toMatchObject({ paused: true, isEncryptedAsNow: true });
});
