import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setScoreDefinition } from '../../../src/services/scores/definitions.ts';
import { type Answer, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { copyExecutions, endLeases, reviewers } from './queues-support.ts';

let service: TestService;
let execution: string;
let count = 0;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', {
    body: { name: 'say', template: 'Hello {{ name }}.', model: 'sandbox/echo' },
  });
  const run = { prompt_name: 'say', variables: { name: 'Ada' } };
  execution = (await service.call('POST', '/executions', { body: run })).body.id;
});
afterAll(() => service?.stop());

/** A separate queue with a number of items. @returns its path and the executions in it */
async function queue(items: number, settings: object = {}): Promise<{ path: string; ids: string[] }> {
  count += 1;
  const path = `/queues/queue-${count}`;
  const made = await service.call('PUT', path, { body: { score_names: ['helpful', 'tone'], ...settings } });
  expect(made.status).toBe(200);
  const ids = items === 0 ? [] : await copyExecutions(service, execution, items);
  for (let from = 0; from < ids.length; from += 1000)
    await service.call('POST', `${path}/items`, { body: { execution_ids: ids.slice(from, from + 1000) } });
  return { path, ids };
}

const progress = async (path: string) => (await service.call('GET', path)).body.progress;
/** As they are stored, by name. */
const scoresOf = (id: string) =>
  service.dependencies.db.system.query<{
    name: string;
    number: number | null;
    text: string | null;
    comment: string | null;
  }>({ text: 'select name, number, text, comment, source, author from scores where execution_id = $1 order by name' }, [
    id.replace('exec_', ''),
  ]);
const helpful = (value: boolean) => ({ scores: [{ name: 'helpful', value }] });
const refused = ({ status, body }: Answer) => [status, body.error?.code, body.error?.message];

test('a queue is created, changed, listed and deleted', async () => {
  const body = {
    description: 'Look at the tone.',
    score_names: ['helpful'],
    filter: { prompt_name: 'say', score: ['helpful<0.5'] },
    sample_rate: 0.25,
    reviewers_per_item: 2,
  };
  const created = await service.call('PUT', '/queues/team/tone', { body });
  expect(created.status).toBe(200);
  expect(created.body).toEqual({
    name: 'team/tone',
    ...body,
    trace_filter: null,
    progress: { pending: 0, leased: 0, completed: 0, skipped: 0 },
    full: false,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect((await service.call('GET', '/queues/team/tone')).body).toEqual(created.body);
  const changed = await service.call('PUT', '/queues/team/tone', { body: { score_names: ['tone'] } });
  expect(changed.body).toMatchObject({
    description: null,
    score_names: ['tone'],
    filter: null,
    sample_rate: 1,
    reviewers_per_item: 1,
  });
  const { body: page } = await service.call('GET', '/queues?limit=1');
  expect(page.data).toHaveLength(1);
  expect((await service.call('DELETE', '/queues/team/tone')).status).toBe(200);
  expect((await service.call('GET', '/queues/team/tone')).status).toBe(404);
});

test.each([
  ['no score', { score_names: [] }, /score_names: must name at least one/],
  ['a name twice', { score_names: ['a', 'a'] }, /score_names: must not name a score twice/],
  ['a share above 1', { score_names: ['a'], sample_rate: 1.1 }, /sample_rate: must be a number from 0 to 1/],
  [
    'no reviewers per item',
    { score_names: ['a'], reviewers_per_item: 0 },
    /reviewers_per_item: must be a whole number from 1 to 10/,
  ],
  ['an unknown field of the filter', { score_names: ['a'], filter: { prompt: 'x' } }, /prompt: is not a known field/],
  ['a broken condition', { score_names: ['a'], filter: { score: ['nonsense'] } }, /NAME OPERATOR VALUE/],
])('refuses a queue with %s', async (_, body, message) => {
  expect(refused(await service.call('PUT', '/queues/refused', { body }))).toEqual([
    400,
    'invalid_request',
    expect.stringMatching(message),
  ]);
});

test('an item is once in a queue, however it is added', async () => {
  const { path, ids } = await queue(3);
  const add = async (body: object) => (await service.call('POST', `${path}/items`, { body })).body;
  expect(await add({ execution_ids: [ids[0], ids[0], ids[1]] })).toEqual({ added: 0, present: 2 });
  expect(await add({ filter: { prompt_name: 'say' }, limit: 2 })).toEqual({ added: 0, present: 2 });
  expect(await add({ execution_ids: [execution] })).toEqual({ added: 1, present: 0 });
  expect((await service.call('GET', `${path}/items`)).body.data).toHaveLength(4);
  expect(await progress(path)).toEqual({ pending: 4, leased: 0, completed: 0, skipped: 0 });
});

test('names what cannot be added', async () => {
  const { path } = await queue(0);
  const add = (body: object) => service.call('POST', `${path}/items`, { body });
  const nothing = 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a10';
  expect(refused(await add({ execution_ids: [nothing] }))).toEqual([
    400,
    'invalid_request',
    expect.stringContaining(nothing),
  ]);
  expect(refused(await add({}))[2]).toMatch(/Give execution_ids, examples, traces, pairs, compared or a filter/);
  expect(refused(await add({ execution_ids: [execution], limit: 3 }))[2]).toMatch(/limit: needs a filter/);
  expect(refused(await add({ execution_ids: Array.from({ length: 1001 }, () => execution) }))[2]).toMatch(
    /at most 1000/,
  );
  expect(refused(await service.call('POST', '/queues/none/items', { body: { execution_ids: [execution] } }))[0]).toBe(
    404,
  );
});

test('evaluation examples are reviewed, and deleted with it', async () => {
  const { path } = await queue(0);
  const made = await service.call('POST', '/evaluations', {
    body: { prompt_name: 'say', examples: [{ id: 'one', variables: { name: 'Grace' } }] },
    headers: { Prefer: 'wait=60' },
  });
  const evaluation = made.body.id;
  const add = (example: string) =>
    service.call('POST', `${path}/items`, { body: { examples: [{ evaluation_id: evaluation, example_id: example }] } });
  await expectSoon(async () => (await service.call('GET', `/evaluations/${evaluation}`)).body.status, 'completed');
  expect(refused(await add('two'))[2]).toMatch(/"two" of eval_/);
  expect((await add('one')).body).toEqual({ added: 1, present: 0 });
  const { item } = (await service.call('POST', `${path}/next`)).body;
  expect(item.subject).toEqual({ evaluation_id: evaluation, example_id: 'one' });
  const done = await service.call('POST', `${path}/items/${item.id}/complete`, {
    body: { ...helpful(true), correction: 'Hi Grace', dataset: 'corrected/answers' },
  });
  expect(done.body).toMatchObject({ state: 'completed' });
  const { data } = (await service.call('GET', '/datasets/corrected/answers/examples')).body;
  expect(data).toMatchObject([{ key: 'one', variables: { name: 'Grace' }, expected: 'Hi Grace' }]);
  await service.call('DELETE', `/evaluations/${evaluation}`);
  expect((await service.call('GET', `${path}/items`)).body.data).toEqual([]);
});

async function expectSoon(read: () => Promise<unknown>, value: unknown): Promise<void> {
  await waitFor(String(value), async () => (await read()) === value);
}

test('ten people in a queue of 500 never get the same item', async () => {
  const { path, ids } = await queue(500);
  const people = await reviewers(service, 10);
  const got: string[] = [];
  await Promise.all(
    people.map(async ({ call }) => {
      for (;;) {
        const { status, body } = await call('POST', `${path}/next`);
        expect(status).toBe(200);
        if (body.item === null) return;
        got.push(body.item.subject.execution_id);
        const done = await call('POST', `${path}/items/${body.item.id}/complete`, {
          body: helpful(got.length % 2 === 0),
        });
        expect([done.status, done.body.state]).toEqual([200, 'completed']);
      }
    }),
  );
  expect(got).toHaveLength(500);
  expect(new Set(got)).toEqual(new Set(ids));
  expect(await progress(path)).toEqual({ pending: 0, leased: 0, completed: 500, skipped: 0 });
}, 180_000);

test('a holder of an item gets it again; others get others; an ended lease returns it', async () => {
  const { path } = await queue(1);
  const [one, two] = await reviewers(service, 2);
  const next = async (call = one?.call) => (await call?.('POST', `${path}/next`))?.body.item;
  const item = await next();
  expect(item).toMatchObject({ state: 'leased', reviews: [{ reviewer: one?.id, state: 'leased' }] });
  expect((await next()).id).toBe(item.id);
  expect(await next(two?.call)).toBeNull();
  expect(await progress(path)).toEqual({ pending: 0, leased: 1, completed: 0, skipped: 0 });
  await endLeases(service);
  expect(await progress(path)).toEqual({ pending: 1, leased: 0, completed: 0, skipped: 0 });
  expect((await next(two?.call)).id).toBe(item.id);
  const late = await one?.call('POST', `${path}/items/${item.id}/complete`, { body: helpful(true) });
  expect(late && refused(late)).toEqual([
    400,
    'invalid_state',
    expect.stringMatching(/Another reviewer holds this item/),
  ]);
  await endLeases(service);
  // No one took it in the meantime.
  expect((await one?.call('POST', `${path}/items/${item.id}/complete`, { body: helpful(true) }))?.status).toBe(200);
  const again = await two?.call('POST', `${path}/items/${item.id}/complete`, { body: helpful(false) });
  expect(again && refused(again)).toEqual([400, 'invalid_state', expect.stringMatching(/is completed/)]);
});

test('repeating a completion changes nothing, another one replaces the scores', async () => {
  const { path, ids } = await queue(1);
  const { item } = (await service.call('POST', `${path}/next`)).body;
  const complete = (body: object) => service.call('POST', `${path}/items/${item.id}/complete`, { body });
  const both = {
    scores: [
      { name: 'helpful', value: true, comment: 'Right.' },
      { name: 'tone', value: 'kind' },
    ],
  };
  const first = await complete(both);
  const stored = await scoresOf(ids[0] ?? '');
  expect(stored).toHaveLength(2);
  expect(stored).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'helpful', number: 1, source: 'person', comment: 'Right.' }),
    ]),
  );
  expect((await complete(both)).body).toEqual(first.body);
  expect(await scoresOf(ids[0] ?? '')).toEqual(stored);
  expect((await complete(helpful(false))).body).toMatchObject({ completed: 1, state: 'completed' });
  expect(await scoresOf(ids[0] ?? '')).toMatchObject([{ name: 'helpful', number: 0 }]);
});

test('back undoes a completion with its scores, and ends a lease', async () => {
  const { path, ids } = await queue(1);
  const { item } = (await service.call('POST', `${path}/next`)).body;
  const post = (action: string, body?: object) =>
    service.call('POST', `${path}/items/${item.id}/${action}`, body && { body });
  await post('complete', helpful(true));
  expect((await post('back')).body).toMatchObject({ state: 'pending', completed: 0, reviews: [] });
  expect(await scoresOf(ids[0] ?? '')).toEqual([]);
  await service.call('POST', `${path}/next`);
  expect(await progress(path)).toMatchObject({ leased: 1 });
  expect((await post('back')).body).toMatchObject({ state: 'pending' });
  expect((await post('back')).status).toBe(200);
  expect(await progress(path)).toEqual({ pending: 1, leased: 0, completed: 0, skipped: 0 });
});

test('who skips an item does not get it again; others get it last', async () => {
  const { path } = await queue(2);
  const [one, two] = await reviewers(service, 2);
  const first = (await one?.call('POST', `${path}/next`))?.body.item;
  for (let times = 0; times < 2; times += 1)
    expect((await one?.call('POST', `${path}/items/${first.id}/skip`))?.body).toMatchObject({
      state: 'skipped',
      skipped: 1,
    });
  expect(await progress(path)).toEqual({ pending: 1, leased: 0, completed: 0, skipped: 1 });
  const second = (await two?.call('POST', `${path}/next`))?.body.item;
  expect(second.id).not.toBe(first.id);
  expect((await one?.call('POST', `${path}/next`))?.body.item).toBeNull();
  await two?.call('POST', `${path}/items/${second.id}/complete`, { body: helpful(true) });
  expect((await two?.call('POST', `${path}/next`))?.body.item.id).toBe(first.id);
  await two?.call('POST', `${path}/items/${first.id}/back`);
  expect((await one?.call('POST', `${path}/items/${first.id}/back`))?.body).toMatchObject({
    state: 'pending',
    skipped: 0,
  });
});

test('several people review one item, and their agreement is measured', async () => {
  const { path } = await queue(30, { reviewers_per_item: 2 });
  const people = await reviewers(service, 3);
  const by = new Map<string, string[]>();
  await Promise.all(
    people.map(async ({ id, call }) => {
      for (;;) {
        const { item } = (await call('POST', `${path}/next`)).body;
        if (item === null) return;
        by.set(item.id, [...(by.get(item.id) ?? []), id]);
        const value = Number.parseInt(item.id.slice(-2), 16) % 2 === 0;
        await call('POST', `${path}/items/${item.id}/complete`, { body: helpful(value) });
      }
    }),
  );
  expect(by.size).toBe(30);
  for (const ids of by.values()) expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
  const { scores } = (await service.call('GET', `${path}/agreement`)).body;
  expect(scores).toMatchObject([
    { name: 'helpful', data_type: 'boolean', items: 30, same: 1, measure: { name: 'krippendorff_alpha', value: 1 } },
  ]);
  expect(scores[0].pairs.reduce((sum: number, { items }: { items: number }) => sum + items, 0)).toBe(30);
  await service.call('PUT', path, { body: { score_names: ['helpful'], reviewers_per_item: 3 } });
  expect(await progress(path)).toMatchObject({ pending: 30, completed: 0 });
});

test('an item that is being completed is waited for, if it needs another reviewer', async () => {
  const { path } = await queue(1, { reviewers_per_item: 2 });
  const [reviewer] = await reviewers(service, 1);
  const asked = await service.dependencies.db.system.transaction(async (query) => {
    await query((db) =>
      db
        .selectFrom('queue_items as i')
        .innerJoin('queues as q', 'q.id', 'i.queue_id')
        .select('i.id')
        .where('i.workspace_id', '=', service.workspaceId)
        .where('q.name', '=', path.replace('/queues/', ''))
        .forUpdate('i'),
    );
    const answer = reviewer?.call('POST', `${path}/next`);
    // Time enough for an answer that does not wait.
    await Promise.race([answer, delay(300)]);
    return { answer };
  });
  expect((await asked.answer)?.body.item).toMatchObject({ state: 'leased' });
});

test('a correction becomes an example of a dataset, and back removes it', async () => {
  const { path, ids } = await queue(3);
  const dataset = 'corrected/runs';
  const examples = async () => (await service.call('GET', `/datasets/${dataset}/examples`)).body.data;
  const complete = async (correction: unknown) => {
    const { item } = (await service.call('POST', `${path}/next`)).body;
    const answer = await service.call('POST', `${path}/items/${item.id}/complete`, { body: { correction, dataset } });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const first = await complete('Hello, Ada!');
  expect(first.reviews).toMatchObject([{ correction: { dataset, version: 1 } }]);
  await complete({ text: 'Hi' });
  const third = await complete(null);
  expect(third.reviews[0].correction.version).toBe(3);
  const all = await examples();
  expect(all).toMatchObject([
    { seq: 0, key: first.subject.execution_id, variables: { name: 'Ada' }, expected: 'Hello, Ada!' },
    { seq: 1, expected: { text: 'Hi' } },
    { seq: 2, expected: null },
  ]);
  expect(all[0].metadata).toMatchObject({
    execution_id: first.subject.execution_id,
    prompt_name: 'say',
    queue: path.replace('/queues/', ''),
  });
  expect(new Set(all.map(({ key }: { key: string }) => key))).toEqual(new Set(ids));
  const again = { correction: 'Hello.', dataset };
  await service.call('POST', `${path}/items/${first.id}/complete`, { body: again });
  expect((await examples())[0]).toMatchObject({ key: first.subject.execution_id, expected: 'Hello.' });
  await service.call('POST', `${path}/items/${first.id}/complete`, { body: again });
  expect((await service.call('GET', `/datasets/${dataset}`)).body.version).toBe(4);
  await service.call('POST', `${path}/items/${first.id}/back`);
  expect((await examples())[0]).toMatchObject({ key: first.subject.execution_id, expected: 'Hello, Ada!' });
  await service.call('POST', `${path}/items/${third.id}/back`);
  expect((await examples()).map(({ seq }: { seq: number }) => seq)).toEqual([0, 1]);
});

test.each([
  [
    'another score',
    { scores: [{ name: 'other', value: 1 }] },
    /scores\.0\.name: must be a score of this queue: helpful, tone/,
  ],
  [
    'a score twice',
    {
      scores: [
        { name: 'tone', value: 'a' },
        { name: 'tone', value: 'b' },
      ],
    },
    /must not name a score twice/,
  ],
  ['nothing', {}, /at least one score or a correction/],
  ['a correction without a dataset', { correction: 'x' }, /dataset: is required with a correction/],
  ['a dataset without a correction', { ...helpful(true), dataset: 'x' }, /correction: is required with a dataset/],
])('refuses a completion with %s, and stores nothing', async (_, body, message) => {
  const { path, ids } = await queue(1);
  const { item } = (await service.call('POST', `${path}/next`)).body;
  const answer = await service.call('POST', `${path}/items/${item.id}/complete`, { body });
  expect(refused(answer)).toEqual([400, 'invalid_request', expect.stringMatching(message)]);
  expect(await scoresOf(ids[0] ?? '')).toEqual([]);
});

test('a value that the definition refuses stores nothing of the completion', async () => {
  const { path, ids } = await queue(1);
  const { db } = service.dependencies;
  const [workspace] = await db.system.query<{ id: string }>({
    text: `select id from workspaces where name = 'default'`,
  });
  const limits = { data_type: 'numeric' as const, min: 1, max: 5, categories: null, description: null };
  await db.workspace(workspace?.id ?? '').transaction((query) => setScoreDefinition(query, 'stars', limits));
  await service.call('PUT', path, { body: { score_names: ['helpful', 'stars'] } });
  const { item } = (await service.call('POST', `${path}/next`)).body;
  const scores = [
    { name: 'helpful', value: true },
    { name: 'stars', value: 6 },
  ];
  const answer = await service.call('POST', `${path}/items/${item.id}/complete`, { body: { scores } });
  expect(refused(answer)).toEqual([400, 'invalid_request', expect.stringContaining('5')]);
  expect(await scoresOf(ids[0] ?? '')).toEqual([]);
  expect(await progress(path)).toMatchObject({ leased: 1, completed: 0 });
});

test('deleting an execution deletes its items', async () => {
  const { path, ids } = await queue(2);
  expect((await service.call('DELETE', `/executions/${ids[0]}`)).status).toBe(200);
  const { data } = (await service.call('GET', `${path}/items`)).body;
  expect(data.map(({ subject }: { subject: object }) => subject)).toEqual([{ execution_id: ids[1] }]);
});

test('executions can be deleted while their items are completed and undone', async () => {
  const { path, ids } = await queue(40);
  const { data } = (await service.call('GET', `${path}/items`)).body;
  const answers: Answer[] = await Promise.all(
    data.flatMap(({ id, subject }: { id: string; subject: { execution_id: string } }) => [
      service.call('POST', `${path}/items/${id}/complete`, { body: helpful(true) }),
      service.call('POST', `${path}/items/${id}/back`),
      service.call('DELETE', `/executions/${subject.execution_id}`),
    ]),
  );
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect((await service.call('GET', `${path}/items`)).body.data).toEqual([]);
  for (const id of ids) expect(await scoresOf(id)).toEqual([]);
});

test('items are listed by state, page by page', async () => {
  const { path } = await queue(5);
  const { item } = (await service.call('POST', `${path}/next`)).body;
  await service.call('POST', `${path}/items/${item.id}/complete`, { body: helpful(true) });
  const completed = (await service.call('GET', `${path}/items?state=completed`)).body;
  expect(completed.data).toMatchObject([{ id: item.id, state: 'completed', reviews: [{ state: 'completed' }] }]);
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await service.call('GET', `${path}/items?state=pending&limit=3${cursor}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
  } while (cursor !== '');
  expect([seen.length, new Set(seen).size]).toEqual([4, 4]);
});

test('score is enough to review, and write is needed to correct', async () => {
  const { path } = await queue(2);
  const { key: score } = await createKey(service, 'score');
  const call = (method: string, of: string, key: string, body?: object) =>
    service.call(method, of, { key, ...(body && { body }) });
  const { item } = (await call('POST', `${path}/next`, score)).body;
  expect((await call('POST', `${path}/items/${item.id}/complete`, score, helpful(true))).status).toBe(200);
  const corrected = await call('POST', `${path}/items/${item.id}/complete`, score, { correction: 'x', dataset: 'x' });
  expect(refused(corrected).slice(0, 2)).toEqual([401, 'insufficient_scope']);
});

test('a queue of the same name in another workspace reaches nothing of it', async () => {
  const { path, ids } = await queue(1);
  const other = await createOtherWorkspace(service, 'other');
  const { item } = (await service.call('POST', `${path}/next`)).body;
  await other.call('PUT', path, { body: { score_names: ['a'] } });
  const added = await other.call('POST', `${path}/items`, { body: { execution_ids: ids } });
  expect(added.status).toBe(400);
  expect((await other.call('POST', `${path}/items`, { body: { filter: {} } })).body).toEqual({ added: 0, present: 0 });
  expect((await other.call('POST', `${path}/items/${item.id}/complete`, { body: helpful(true) })).status).toBe(404);
  expect(await progress(path)).toMatchObject({ leased: 1 });
});
