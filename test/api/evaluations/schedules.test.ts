import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcileSchedules } from '../../../src/jobs/reconcile-schedules.ts';
import { historyToJson } from '../../support/histories.ts';
import { eventsOf } from '../../support/history-events.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', { body: { name: 'echo', template: '{{ text }}', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

const evaluation = { prompt_name: 'echo', examples: [{ variables: { text: 'yes' }, expected: 'yes' }] };

async function createSchedule(over: object = {}) {
  const { status, body } = await service.call('POST', '/schedules', {
    body: { name: 'nightly', cron: '0 3 * * *', time_zone: 'Europe/Berlin', evaluation, ...over },
  });
  expect(status).toBe(201);
  return body;
}

async function evaluationsOf(scheduleId: string) {
  const { body } = await service.call('GET', `/evaluations?schedule_id=${scheduleId}`);
  return body.data;
}

test('shows when it is next due, in its own time zone', async () => {
  const { id, next_runs } = await createSchedule();
  expect(next_runs).toHaveLength(5);
  const hours = next_runs.map((time: string) =>
    new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' }).format(
      new Date(time),
    ),
  );
  expect(new Set(hours)).toEqual(new Set(['03']));
  expect((await service.call('GET', `/schedules/${id}`)).body).toMatchObject({ id, paused: false, last_error: null });
  expect((await service.call('DELETE', `/schedules/${id}`)).status).toBe(200);
  expect((await service.call('GET', `/schedules/${id}`)).status).toBe(404);
});

test('a trigger starts an evaluation that runs to its end', async () => {
  const { id } = await createSchedule({ paused: true });
  expect((await service.call('POST', `/schedules/${id}/trigger`)).status).toBe(200);
  const run = await waitFor('the evaluation', async () =>
    (await evaluationsOf(id)).find(({ status }: { status: string }) => status === 'completed'),
  );
  expect(run).toMatchObject({ score: 1, schedule_id: id, prompt_name: 'echo' });
  await service.call('DELETE', `/schedules/${id}`);
});

test('operators see the target of a schedule, and its evaluations', async () => {
  const { id } = await createSchedule({ paused: true });
  await service.call('POST', `/schedules/${id}/trigger`);
  const run = await waitFor('the evaluation', async () => (await evaluationsOf(id))[0]);
  const { client, connection, settings } = service.dependencies;
  const started = await waitFor('its workflow', async () => {
    // Undecoded: those of other tests may be encrypted.
    const { executions } = await connection.workflowService.listWorkflowExecutions({
      namespace: settings.temporal.namespace,
      query: 'WorkflowType = "scheduledEvaluation"',
    });
    const found = executions?.find(({ execution }) => execution?.workflowId?.includes(id))?.execution?.workflowId;
    return found ? client.workflow.getHandle(found).describe() : undefined;
  });
  expect(await started.staticSummary?.()).toBe('schedule "nightly": echo over 1 example');
  expect(started.priority?.fairnessKey).toMatch(/^ws_/);
  expect(started.memo).toEqual({
    schedule: id,
    name: 'nightly',
    prompt: 'echo',
    cron: '0 3 * * *',
    time_zone: 'Europe/Berlin',
  });
  const handle = client.workflow.getHandle(started.workflowId);
  expect(await handle.result()).toBe(`started ${run.id}`);
  const history = historyToJson(await handle.fetchHistory());
  expect(eventsOf(history, 'ACTIVITY_TASK_SCHEDULED').map(({ summary }) => summary)).toEqual(['starts the evaluation']);
  await service.call('DELETE', `/schedules/${id}`);
});

test('pausing stops it from being due, resuming brings it back', async () => {
  const { id } = await createSchedule();
  expect((await service.call('POST', `/schedules/${id}/pause`)).body).toMatchObject({ paused: true, next_runs: [] });
  const resumed = await service.call('POST', `/schedules/${id}/resume`);
  expect(resumed.body.paused).toBe(false);
  expect(resumed.body.next_runs.length).toBeGreaterThan(0);
  await service.call('DELETE', `/schedules/${id}`);
});

test('reports why a start failed', async () => {
  await service.call('POST', '/prompts', { body: { name: 'gone', template: 'x', model: 'sandbox/echo' } });
  const { id } = await createSchedule({ evaluation: { ...evaluation, prompt_name: 'gone' } });
  await service.call('DELETE', '/prompts/gone');
  await service.call('POST', `/schedules/${id}/trigger`);
  const error = await waitFor('the error', async () => (await service.call('GET', `/schedules/${id}`)).body.last_error);
  expect(error.code).toBe('prompt_archived');
  expect(await evaluationsOf(id)).toEqual([]);
  await service.call('DELETE', `/schedules/${id}`);
});

test.each([
  ['a cron expression with too few fields', { cron: '0 3 * *' }, 'cron'],
  ['a cron expression out of range', { cron: '61 3 * * *' }, 'cron'],
  ['an unknown time zone', { time_zone: 'Mars/Olympus' }, 'time_zone'],
  ['no examples', { evaluation: { prompt_name: 'echo' } }, 'evaluation.dataset'],
  ['a start time', { evaluation: { ...evaluation, start_at: '2030-01-01T00:00:00Z' } }, 'evaluation.start_at'],
])('refuses %s', async (_, over, path) => {
  const { status, body } = await service.call('POST', '/schedules', {
    body: { name: 'nightly', cron: '0 3 * * *', evaluation, ...over },
  });
  expect(status).toBe(400);
  expect(body.error.details[0].path).toBe(path);
});

test('a schedule that Temporal lost is restored unchanged', async () => {
  const { db, client, taskQueues, log } = service.dependencies;
  const lose = (id: string) => client.schedule.getHandle(`evaluation-schedule/${id}`).delete();
  const running = await createSchedule();
  const paused = await createSchedule({ paused: true });
  await lose(running.id);
  await lose(paused.id);
  expect((await service.call('GET', `/schedules/${running.id}`)).body.next_runs).toEqual([]);
  await db.system.query({ text: `update schedules set check_at = now() - interval '1 second'` });
  await reconcileSchedules({ db, starter: { client, taskQueues, eager: false }, log });
  expect((await service.call('GET', `/schedules/${running.id}`)).body.next_runs).toEqual(running.next_runs);
  const resumed = await service.call('POST', `/schedules/${paused.id}/resume`);
  expect(resumed.body.next_runs).toEqual(running.next_runs);
  // A caller does not have to wait for the reconciliation.
  await lose(running.id);
  expect((await service.call('POST', `/schedules/${running.id}/pause`)).body).toMatchObject({ paused: true });
  for (const { id } of [running, paused]) expect((await service.call('DELETE', `/schedules/${id}`)).status).toBe(200);
});

test('one that Temporal refuses leaves nothing, and its key can be reused', async () => {
  const headers = { 'Idempotency-Key': 'refused-by-temporal' };
  const body = { name: 'refused', cron: '99 99 * * *', time_zone: 'UTC', evaluation };
  const refused = await service.call('POST', '/schedules', { body, headers });
  expect(refused).toMatchObject({ status: 400, body: { error: { details: [{ path: 'cron' }] } } });
  const { query } = service.dependencies.db.system;
  expect(await query({ text: `select id from schedules where name = 'refused'` })).toEqual([]);
  const again = await service.call('POST', '/schedules', { body: { ...body, cron: '0 3 * * *' }, headers });
  expect(again.status).toBe(201);
  const replayed = await service.call('POST', '/schedules', { body: { ...body, cron: '0 3 * * *' }, headers });
  expect([replayed.status, replayed.body]).toEqual([201, again.body]);
  await service.call('DELETE', `/schedules/${again.body.id}`);
});

test('one not reported to a caller starts nothing, and is withdrawn', async () => {
  const { db, client, taskQueues, log } = service.dependencies;
  const told = await createSchedule({ paused: true });
  const signal_pending = await createSchedule({ paused: true });
  // As if the process had died before it could answer.
  await db.system.query({ text: `update schedules set accepted_at = null where id = $1` }, [
    signal_pending.id.replace('sched_', ''),
  ]);
  await service.call('POST', `/schedules/${signal_pending.id}/trigger`);
  await waitFor('the workflow of the trigger', async () => {
    const { recentActions } = (await client.schedule.getHandle(`evaluation-schedule/${signal_pending.id}`).describe())
      .info;
    const workflowId = recentActions[0]?.action.workflow.workflowId;
    return workflowId !== undefined && (await client.workflow.getHandle(workflowId).result());
  });
  expect(await evaluationsOf(signal_pending.id)).toEqual([]);
  await db.system.query({ text: `update schedules set check_at = now() - interval '1 second'` });
  await reconcileSchedules({ db, starter: { client, taskQueues, eager: false }, log });
  expect((await service.call('GET', `/schedules/${signal_pending.id}`)).status).toBe(404);
  expect((await service.call('GET', `/schedules/${told.id}`)).status).toBe(200);
  await service.call('DELETE', `/schedules/${told.id}`);
});
