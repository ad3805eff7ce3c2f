import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { reviewers } from './queues-support.ts';

let service: TestService;
let count = 0;
const CASES = 12;
const examples = Array.from({ length: CASES }, (_, index) => ({ id: `e${index}`, variables: { name: `N${index}` } }));
let before: string;
let after: string;

beforeAll(async () => {
  service = await startTestService();
  for (const [name, template] of Object.entries({
    short: 'Hi {{ name }}',
    long: 'Hello, dear {{ name }}',
    plain: 'Hi N0',
  }))
    await service.call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });
  before = await evaluate('short');
  after = await evaluate('long');
});
afterAll(() => service?.stop());

async function evaluate(prompt: string, of = examples): Promise<string> {
  const { body } = await service.call('POST', '/evaluations', { body: { prompt_name: prompt, examples: of } });
  await waitFor(
    'completed',
    async () => (await service.call('GET', `/evaluations/${body.id}`)).body.status === 'completed',
  );
  return body.id;
}

const execute = async (prompt: string, name: string): Promise<string> =>
  (await service.call('POST', '/executions', { body: { prompt_name: prompt, variables: { name } } })).body.id;

/** A separate queue whose score no other test uses. */
async function queue(settings: object = {}): Promise<{ path: string; score: string }> {
  count += 1;
  const [path, score] = [`/queues/pairs-${count}`, `better-${count}`];
  expect((await service.call('PUT', path, { body: { score_names: [score], ...settings } })).status).toBe(200);
  return { path, score };
}

const add = (path: string, body: object) => service.call('POST', `${path}/items`, { body });
const scores = async (name: string) => (await service.call('GET', `/scores?name=${name}&limit=200`)).body.data;

test('two executions of one input are a pair, in any order', async () => {
  const { path } = await queue();
  const [one, two] = [await execute('short', 'Ada'), await execute('long', 'Ada')];
  expect((await add(path, { pairs: [{ execution_ids: [one, two] }, { execution_ids: [two, one] }] })).body).toEqual({
    added: 1,
    present: 0,
  });
  expect((await add(path, { pairs: [{ execution_ids: [two, one] }] })).body).toEqual({ added: 0, present: 1 });
  // The same execution can also be a single item, and in another pair.
  const three = await execute('short', 'Ada');
  expect((await add(path, { execution_ids: [two], pairs: [{ execution_ids: [two, three] }] })).body).toEqual({
    added: 2,
    present: 0,
  });
  const { data } = (await service.call('GET', `${path}/items`)).body;
  expect(data.map(({ subject, other }: Record<string, unknown>) => [subject, other])).toEqual([
    [{ execution_id: two }, { execution_id: one }],
    [{ execution_id: two }, undefined],
    [{ execution_id: three }, { execution_id: two }],
  ]);
});

test('reviewers see a pair in an order of their own, and their answers are kept without it', async () => {
  const { path, score } = await queue({ reviewers_per_item: 8 });
  const people = await reviewers(service, 8);
  const [one, two] = [await execute('short', 'Ada'), await execute('long', 'Ada')];
  await add(path, { pairs: [{ execution_ids: [one, two] }] });
  const orders = new Set<string>();
  for (const { call } of people) {
    const { item } = (await call('POST', `${path}/next`)).body;
    expect((await call('POST', `${path}/next`)).body.item).toEqual({ ...item, reviews: [expect.anything()] });
    const first = item.subject.execution_id;
    orders.add(first);
    expect(new Set([first, item.other.execution_id])).toEqual(new Set([one, two]));
    // All reviewers prefer the long one.
    const value = first === two ? 'first' : 'second';
    const done = await call('POST', `${path}/items/${item.id}/complete`, {
      body: { scores: [{ name: score, value }] },
    });
    expect(done.body).toMatchObject({ subject: item.subject, other: item.other });
  }
  expect(orders.size).toBe(2);
  const stored = await scores(score);
  expect(stored).toHaveLength(8);
  for (const each of stored)
    expect(each).toMatchObject({
      subject: { execution_id: two },
      value: 1,
      source: 'person',
      metadata: { compared_with: one, shown: expect.stringMatching(/^(first|second)$/) },
    });
  expect(new Set(stored.map(({ metadata }: { metadata: { shown: string } }) => metadata.shown)).size).toBe(2);
  expect((await service.call('GET', `${path}/agreement`)).body.scores).toMatchObject([{ items: 1, same: 1 }]);
});

test('a comparison of two evaluations becomes pairs, whose answers it shows from either side', async () => {
  const { path, score } = await queue();
  expect((await add(path, { compared: { evaluation_ids: [before, after] }, limit: 5 })).body).toEqual({
    added: 5,
    present: 0,
  });
  expect((await add(path, { compared: { evaluation_ids: [after, before] } })).body).toEqual({
    added: CASES - 5,
    present: 5,
  });
  let done = 0;
  for (; ; done += 1) {
    const { item } = (await service.call('POST', `${path}/next`)).body;
    if (item === null) break;
    expect(item.subject.example_id).toBe(item.other.example_id);
    const isFirst = item.subject.evaluation_id === after;
    // Ten for the later one, one tie, one for the earlier one.
    const value = done === 0 ? 'tie' : (done === 1) === isFirst ? 'second' : 'first';
    await service.call('POST', `${path}/items/${item.id}/complete`, { body: { scores: [{ name: score, value }] } });
  }
  expect(done).toBe(CASES);
  const compare = async (a: string, b: string) => (await service.call('GET', `/evaluations/${b}/compare/${a}`)).body;
  const row = { source: 'person', evaluator: score, reviews: CASES, examples: CASES, ties: 1 };
  const found = await compare(before, after);
  expect(found.preferences).toContainEqual({
    ...row,
    preferred: 10,
    other_preferred: 1,
    share: 0.875,
    interval: { low: expect.any(Number), high: expect.any(Number) },
    p_value: expect.any(Number),
    verdict: 'preferred',
  });
  const { p_value: p } = found.preferences.find(({ evaluator }: { evaluator: string }) => evaluator === score);
  // The sign test without the tie: 2 × (1 + 11) / 2^11.
  expect(p).toBeGreaterThanOrEqual(0.0117);
  expect(p).toBeLessThan(0.05);
  expect(found.note).toContain(
    `By ${CASES} answers of people for "${score}", b is better in 10 of 12 examples, a in 1, with 1 ties`,
  );
  expect((await compare(after, before)).preferences).toContainEqual(
    expect.objectContaining({ ...row, preferred: 1, other_preferred: 10, share: 0.125, verdict: 'other_preferred' }),
  );
});

test('several answers on an example count once; taking one back removes it', async () => {
  const { path, score } = await queue({ reviewers_per_item: 2 });
  await add(path, { pairs: [{ evaluation_ids: [before, after], example_id: 'e3' }] });
  const people = await reviewers(service, 2);
  const answer = async (index: number, prefers: string) => {
    const { call } = people[index] ?? { call: service.call };
    const { item } = (await call('POST', `${path}/next`)).body;
    const value = item.subject.evaluation_id === prefers ? 'first' : 'second';
    await call('POST', `${path}/items/${item.id}/complete`, { body: { scores: [{ name: score, value }] } });
    return item.id as string;
  };
  const found = async () =>
    (await service.call('GET', `/evaluations/${after}/compare/${before}`)).body.preferences.find(
      ({ evaluator }: { evaluator: string }) => evaluator === score,
    );
  await answer(0, after);
  const item = await answer(1, before);
  expect(await found()).toMatchObject({ reviews: 2, examples: 1, ties: 1, share: 0.5 });
  await people[1]?.call('POST', `${path}/items/${item}/back`);
  expect(await found()).toMatchObject({
    reviews: 1,
    examples: 1,
    preferred: 1,
    share: 1,
    verdict: 'too_few_differences',
  });
});

test('names a pair that cannot be compared, and an answer that is none', async () => {
  const { path, score } = await queue();
  const refused = async (body: object) => {
    const { status, body: answer } = await add(path, body);
    return [status, answer.error?.details?.[0]?.path, answer.error?.message];
  };
  const [one, other, same] = [
    await execute('short', 'Ada'),
    await execute('long', 'Eve'),
    await execute('short', 'Ada'),
  ];
  for (const ids of [
    [one, other],
    [one, same],
    [one, 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a10'],
  ])
    expect(await refused({ pairs: [{ execution_ids: ids }] })).toEqual([
      400,
      'pairs.0',
      expect.stringMatching(/same variables and different outputs/),
    ]);
  expect((await refused({ pairs: [{ execution_ids: [one, one] }] }))[0]).toBe(400);
  expect((await refused({ pairs: [{ evaluation_ids: [before, after], example_id: 'none' }] }))[1]).toBe('pairs.0');
  expect(
    (await refused({ compared: { evaluation_ids: [before, 'eval_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a10'] } }))[0],
  ).toBe(404);
  expect((await refused({ compared: { evaluation_ids: [before, after] }, sample_rate: 0.5 }))[1]).toBe('sample_rate');
  await add(path, { compared: { evaluation_ids: [before, after] } });
  const { item } = (await service.call('POST', `${path}/next`)).body;
  for (const value of [1, true, 'long']) {
    const { status, body } = await service.call('POST', `${path}/items/${item.id}/complete`, {
      body: { scores: [{ name: score, value }] },
    });
    expect([status, body.error?.details?.[0]?.path]).toEqual([400, 'scores.0.value']);
  }
  await service.call('PUT', '/score-definitions/kind', { body: { data_type: 'boolean' } });
  await service.call('PUT', path, { body: { score_names: ['kind'] } });
  expect((await refused({ compared: { evaluation_ids: [before, after] } }))[2]).toMatch(/"kind" is boolean/);
});

test('equal outputs are left out, and a pair goes with either of its runs', async () => {
  const { path } = await queue();
  const plain = await evaluate('plain', examples.slice(0, 2));
  // One of two common examples has the same output.
  expect((await add(path, { compared: { evaluation_ids: [plain, before] } })).body).toEqual({ added: 1, present: 0 });
  const [one, two] = [await execute('short', 'Ada'), await execute('long', 'Ada')];
  await add(path, { pairs: [{ execution_ids: [one, two] }] });
  await service.call('DELETE', `/evaluations/${plain}`);
  const left = async () => (await service.call('GET', `${path}/items`)).body.data.length;
  expect(await left()).toBe(1);
  await service.call('DELETE', `/executions/${one}`);
  expect(await left()).toBe(0);
});
