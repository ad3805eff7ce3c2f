import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parsePublicId } from '../../../src/domain/ids.ts';
import { fillQueues } from '../../../src/jobs/fill-queues.ts';
import { storeScores } from '../../../src/services/scores/store-scores.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { copyExecutions } from './queues-support.ts';

let service: TestService;
let execution: string;
beforeAll(async () => {
  service = await startTestService();
  for (const name of ['say', 'other'])
    await service.call('POST', '/prompts', { body: { name, template: 'Hello.', model: 'sandbox/echo' } });
  execution = (await run('say')).id;
});
afterAll(() => service?.stop());

const run = async (prompt: string) =>
  (await service.call('POST', '/executions', { body: { prompt_name: prompt } })).body;
const fill = () => fillQueues(service.dependencies, new AbortController().signal);
const put = async (name: string, body: object) => {
  const answer = await service.call('PUT', `/queues/${name}`, { body: { score_names: ['helpful'], ...body } });
  expect(answer.status).toBe(200);
};
const itemsOf = async (name: string): Promise<string[]> => {
  const { body } = await service.call('GET', `/queues/${name}/items?limit=1000`);
  return body.data.map(({ subject }: { subject: { execution_id: string } }) => subject.execution_id);
};
const workspaceId = async () => {
  const [row] = await service.dependencies.db.system.query<{ id: string }>({
    text: `select id from workspaces where name = 'default'`,
  });
  return row?.id ?? '';
};
const score = async (id: string, value: number) => {
  const subject = { executionId: parsePublicId('execution', id) ?? '' };
  const scores = [{ name: 'quality', value, subject, source: 'api' as const, author: null }];
  await service.dependencies.db.workspace(await workspaceId()).transaction((query) => storeScores(query, scores));
};

test('executions that end and match enter automatically, and others do not', async () => {
  await put('says', { filter: { prompt_name: 'say' } });
  await put('by-hand', {});
  const { id } = await run('say');
  await run('other');
  await fill();
  expect(await itemsOf('says')).toEqual([id]);
  expect(await itemsOf('by-hand')).toEqual([]);
  await service.call('DELETE', '/queues/says');
});

test('executions stored after their end enter, too, in batches, and each once', async () => {
  await put('copies', { filter: { prompt_name: 'say' } });
  const ids = await copyExecutions(service, execution, 2_300);
  // Several processes do it concurrently.
  await Promise.all([fill(), fill(), fill()]);
  await fill();
  const { progress } = (await service.call('GET', '/queues/copies')).body;
  expect(progress.pending).toBe(ids.length);
  await service.call('DELETE', '/queues/copies');
});

test('an execution enters when a score makes it match, however late', async () => {
  await put('poor', { filter: { score: ['quality<0.5'] } });
  const { id } = await run('say');
  await fill();
  expect(await itemsOf('poor')).toEqual([]);
  await score(id, 0.9);
  await fill();
  expect(await itemsOf('poor')).toEqual([]);
  await score(id, 0.2);
  await score(execution, 0.1);
  await fill();
  expect(new Set(await itemsOf('poor'))).toEqual(new Set([id, execution]));
  await score(id, 0.3);
  await fill();
  expect(await itemsOf('poor')).toHaveLength(2);
  await service.call('DELETE', '/queues/poor');
});

test('a sample is by hash: the share is about right, and adding by hand decides alike', async () => {
  await put('sampled', { filter: { prompt_name: 'say' }, sample_rate: 0.2 });
  const ids = await copyExecutions(service, execution, 1_000);
  await fill();
  const entered = await itemsOf('sampled');
  expect(entered.length).toBeGreaterThan(140);
  expect(entered.length).toBeLessThan(260);
  const filter = { prompt_name: 'say' };
  const again = await service.call('POST', '/queues/sampled/items', {
    body: { filter, sample_rate: 0.2, limit: entered.length },
  });
  expect(again.body).toEqual({ added: 0, present: entered.length });
  expect(ids).toEqual(expect.arrayContaining(entered));
});

test('without a queue with a filter nothing is recorded, and other workspaces get nothing', async () => {
  const other = await createOtherWorkspace(service, 'other');
  await other.call('POST', '/prompts', { body: { name: 'say', template: 'Hello.', model: 'sandbox/echo' } });
  await other.call('POST', '/executions', { body: { prompt_name: 'say' } });
  const [row] = await service.dependencies.db.system.query<{ count: number }>(
    { text: 'select count(*)::int as count from queue_candidates where workspace_id <> $1' },
    [await workspaceId()],
  );
  expect(row?.count).toBe(0);
  await other.call('PUT', '/queues/theirs', { body: { score_names: ['helpful'], filter: {} } });
  const { body } = await other.call('POST', '/executions', { body: { prompt_name: 'say' } });
  await run('say');
  await fill();
  const { data } = (await other.call('GET', '/queues/theirs/items')).body;
  expect(data.map(({ subject }: { subject: object }) => subject)).toEqual([{ execution_id: body.id }]);
});

/** A transaction that does nothing is ended later, but before a statement that waits for it. */
const HOLD = { text: `set local idle_in_transaction_session_timeout = '25s'` };

test('queues fill while executions are added by hand, and a wait for a row delays no other workspace', async () => {
  const { db } = service.dependencies;
  const other = await createOtherWorkspace(service, 'neighbour');
  await other.call('POST', '/prompts', { body: { name: 'say', template: 'Hello.', model: 'sandbox/echo' } });
  await other.call('PUT', '/queues/theirs', { body: { score_names: ['helpful'], filter: {} } });
  await put('both', { filter: { prompt_name: 'say' } });
  const { id: byHand } = await run('other');
  const { id } = await run('say');
  const adding = await db.system.transaction(async (query) => {
    await query(HOLD);
    await query({ text: 'select id from executions where id = $1 for update' }, [byHand.replace('exec_', '')]);
    const added = service.call('POST', '/queues/both/items', { body: { execution_ids: [byHand] } });
    await waitFor('the request to wait for the execution', async () => {
      const [row] = await db.system.query<{ waiting: boolean }>({
        text: `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as waiting`,
      });
      return row?.waiting === true;
    });
    await fill();
    expect(await itemsOf('both')).toEqual([id]);
    return { added };
  });
  expect((await adding.added).body).toEqual({ added: 1, present: 0 });
  const { id: late } = await run('say');
  const { body: theirs } = await other.call('POST', '/executions', { body: { prompt_name: 'say' } });
  await db.system.transaction(async (query) => {
    await query(HOLD);
    await query({ text: `select id from queues where name = 'both' for update` });
    await fill();
    expect((await other.call('GET', '/queues/theirs/items')).body.data).toMatchObject([
      { subject: { execution_id: theirs.id } },
    ]);
  });
  await fill();
  expect(await itemsOf('both')).toContain(late);
});
