import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parsePublicId } from '../../../src/domain/ids.ts';
import { runSchedule } from '../../../src/services/schedules/run-schedule.ts';
import { createQuotas } from '../../../src/services/workspaces/quotas.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', { body: { name: 'echo', template: '{{ text }}', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

async function createSchedule(): Promise<{ id: string; uuid: string }> {
  const evaluation = { prompt_name: 'echo', examples: [{ variables: { text: 'yes' }, expected: 'yes' }] };
  const { body } = await service.call('POST', '/schedules', {
    body: { name: 'nightly', cron: '0 3 * * *', paused: true, evaluation },
  });
  return { id: body.id, uuid: parsePublicId('schedule', body.id) ?? '' };
}

function run(uuid: string, workflowId: string): Promise<string> {
  const { db, models, client, taskQueues, settings } = service.dependencies;
  const quotas = createQuotas(settings.quotas);
  return runSchedule({ db, models, starter: { client, taskQueues, eager: false }, quotas }, uuid, workflowId);
}

async function evaluationsOf(id: string): Promise<{ id: string; status: string }[]> {
  return (await service.call('GET', `/evaluations?schedule_id=${id}`)).body.data;
}

test('an occurrence starts one evaluation, however often it is repeated; another occurrence starts another', async () => {
  const { id, uuid } = await createSchedule();
  const outcomes = await Promise.all([run(uuid, 'first'), run(uuid, 'first'), run(uuid, 'first')]);
  expect(new Set(outcomes).size).toBe(1);
  expect(await run(uuid, 'second')).not.toBe(outcomes[0]);
  expect(await evaluationsOf(id)).toHaveLength(2);
});

test('the same occurrence name counts separately for each schedule, and takes no key from callers', async () => {
  const [one, other] = [await createSchedule(), await createSchedule()];
  expect(await run(one.uuid, 'the-same')).not.toBe(await run(other.uuid, 'the-same'));
  const created = await service.call('POST', '/executions', {
    body: { prompt_name: 'echo', variables: { text: 'x' } },
    headers: { 'Idempotency-Key': 'the-same' },
  });
  expect(created.status).toBe(201);
});

test('an occurrence with a deleted evaluation starts no other', async () => {
  const { id, uuid } = await createSchedule();
  await run(uuid, 'deleted-since');
  const evaluation = await waitFor('the end of the evaluation', async () =>
    (await evaluationsOf(id)).find(({ status }) => status === 'completed'),
  );
  expect((await service.call('DELETE', `/evaluations/${evaluation.id}`)).status).toBe(200);
  expect(await run(uuid, 'deleted-since')).toBe('not started again: its evaluation was deleted');
  expect(await evaluationsOf(id)).toEqual([]);
});

test('occurrences end with the schedule', async () => {
  const { id, uuid } = await createSchedule();
  await run(uuid, 'first');
  expect((await service.call('DELETE', `/schedules/${id}`)).status).toBe(200);
  const { query } = service.dependencies.db.system;
  expect(await query({ text: 'select from schedule_occurrences where schedule_id = $1' }, [uuid])).toEqual([]);
  expect(await run(uuid, 'second')).toBe('not started: the schedule was deleted');
});
