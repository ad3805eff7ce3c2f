import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isReflection, type Ways } from '../../support/hidden-rules.ts';
import { waitFor } from '../../support/wait-for.ts';
import { DEFAULTS, ENDED, type ImprovementStage, startStage } from './improvements-support.ts';

let stage: ImprovementStage;
let count = 0;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

/** A prompt and a dataset that no other test has. @returns their name */
async function seeded(): Promise<string> {
  count += 1;
  const name = `faults/${count}`;
  // Other examples, so that no response of an earlier test is reused.
  await stage.seed(name, { examples: 140, rules: 4, from: 1_000 * count });
  return name;
}

const only = (way: Ways[number]['way']): Ways => [{ upTo: 1, way }];
const taskCalls = () => stage.openai.calls.filter((call) => !isReflection(call)).length;

test('each fault of a reflection is rejected with its code, without a call of the task', async () => {
  const codes = { variable: 'variables_changed', address: 'adds_address', unreadable: 'unreadable' } as const;
  for (const [way, code] of Object.entries(codes) as [keyof typeof codes, string][]) {
    stage.reflect(only(way));
    const { id } = await stage.begin(await seeded(), { max_proposals: 2, parallel: 2 });
    const ended = await stage.until(id, ...ENDED);
    expect(ended).toMatchObject({
      status: 'completed',
      verdict: { result: 'no_candidate' },
      stop_reason: 'max_proposals',
    });
    const [, ...proposals] = await stage.candidates(id);
    expect(proposals.map(({ status, reject }) => [status, reject.code])).toEqual([
      ['rejected', code],
      ['rejected', code],
    ]);
    // Each got a second call, with the fault.
    expect(proposals.map(({ execution_ids: ids }) => ids.length)).toEqual([2, 2]);
    expect(proposals.map(({ evaluation_ids: ids }) => Object.keys(ids))).toEqual([['parent'], ['parent']]);
  }
  stage.reflect();
});

test.each([{ mode: 'fail', status: 400 }, { mode: 'empty' }] as const)(
  'a reflection that ends with %j costs a proposal, and the search continues',
  async (behaviour) => {
    const name = await seeded();
    stage.openai.behave({ ...behaviour, matching: 'Rules:' });
    const { id } = await stage.begin(name, { max_proposals: 4, parallel: 2 });
    const ended = await stage.until(id, ...ENDED);
    stage.openai.behave();
    expect(ended).toMatchObject({ status: 'completed', proposals: { made: 4 }, stop_reason: 'max_proposals' });
    expect(ended.verdict.note).toMatch(/^None of 4 proposals had a text that could be measured, .+ The last reason: ./);
    const [, ...proposals] = await stage.candidates(id);
    for (const { reject, evaluation_ids: ids } of proposals)
      expect([reject?.code, Object.keys(ids)]).toEqual(['unreadable', ['parent']]);
  },
);

test.each([
  { status: 401, code: 'model_authentication' },
  { status: 404, code: 'model_not_found' },
])(
  'a reflection model that answers each call with $status fails the search, and a retry continues it',
  async ({ status, code }) => {
    const name = await seeded();
    stage.reflect(only('add'));
    // Some of them still wait for their failure when the search has failed and is retried.
    stage.openai.behave({ mode: 'fail', status, matching: 'Rules:', slowEvery: 2, slowMs: 2_000 });
    const { id } = await stage.begin(name, { max_proposals: 8, parallel: 2 });
    const failed = await stage.until(id, ...ENDED);
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code, message: `The reflection by ${DEFAULTS.reflection.model} failed: told to fail with ${status}` },
      proposals: { made: 2, skipped: 0 },
      verdict: null,
    });
    expect(failed.spent.reflections).toBeLessThanOrEqual(2);
    const { data: events } = (await stage.service.call('GET', '/events?event=improvement.failed')).body;
    expect(events[0].data).toMatchObject({ improvement_id: id, error: failed.error });

    stage.openai.behave();
    expect((await stage.service.call('POST', `/improvements/${id}/retry`)).body).toMatchObject({
      status: 'running',
      error: null,
    });
    expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', verdict: { result: 'improvement' } });
    const [, first] = await stage.candidates(id);
    expect(first).toMatchObject({ number: 1, content: {} });
    stage.reflect();
  },
);

test('a search whose reflections never have a usable answer fails after eight, with the last reason', async () => {
  const name = await seeded();
  stage.openai.behave({ mode: 'fail', status: 400, matching: 'Rules:' });
  const { id } = await stage.begin(name, { parallel: 3 });
  expect(await stage.until(id, ...ENDED)).toMatchObject({
    status: 'failed',
    error: { code: 'reflection_failed', message: expect.stringMatching(/told to fail with 400$/) },
    proposals: { made: 9, skipped: 9 },
  });
  stage.openai.behave();
  await stage.service.call('POST', `/improvements/${id}/retry`);
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', verdict: { result: 'improvement' } });
});

test('a model of the prompt that cannot be called any more fails the search, and a retry runs the candidate again', async () => {
  const name = await seeded();
  stage.reflect(only('filler'));
  stage.openai.behave({ mode: 'hold', matching: 'Rules:' });
  const before = stage.openai.calls.filter(isReflection).length;
  const { id } = await stage.begin(name, { max_proposals: 2, parallel: 1 });
  await waitFor('a reflection', async () => stage.openai.calls.filter(isReflection).length > before);
  // The reflection is answered; all calls after it fail.
  stage.openai.behave({ mode: 'fail', status: 401 });
  expect(await stage.until(id, ...ENDED)).toMatchObject({
    status: 'failed',
    error: { code: 'model_authentication', message: 'told to fail with 401' },
    proposals: { made: 1 },
  });
  stage.openai.behave();
  await stage.service.call('POST', `/improvements/${id}/retry`);
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', proposals: { made: 2, skipped: 0 } });
  stage.reflect();
});

test.each([0.4, 0.7, 1])('with %d of what a search needs it spends at most max_cost', async (share) => {
  const name = await seeded();
  const most = Number(
    (
      await stage.service.call('POST', '/improvements/estimate', {
        body: { prompt_name: name, dataset: name, ...DEFAULTS, max_proposals: 8 },
      })
    ).body.cost.most,
  );
  const answer = await stage.create(name, { max_proposals: 8, max_cost: Number((most * share).toFixed(6)) });
  if (answer.status === 400) {
    expect(answer.body.error.details[0]).toMatchObject({ path: 'max_cost' });
    expect(answer.body.error.message).toMatch(/set at least \d/);
    return;
  }
  const ended = await stage.until(answer.body.id, ...ENDED, 'paused');
  expect(ended.spent.cost).toBeLessThanOrEqual(most * share);
  expect(['completed', 'paused']).toContain(ended.status);
});

test('a search is paused, resumed, finished, and canceled; what is not possible is an invalid_state', async () => {
  const { call } = stage.service;
  const name = await seeded();
  stage.openai.behave({ latencyMs: 40 });
  const { id } = await stage.begin(name, { max_proposals: 40 });
  const control = (action: string, body?: object) =>
    call('POST', `/improvements/${id}/${action}`, body ? { body } : {});
  await waitFor('its first runs', async () => {
    const { data } = (await call('GET', `/evaluations?improvement_id=${id}`)).body;
    return data.length > 0;
  });
  expect((await control('pause')).body).toMatchObject({ status: 'paused', status_reason: 'paused by request' });
  expect((await control('pause')).body).toMatchObject({ status: 'paused' });
  // Runs in flight finish, and nothing new begins.
  const quiet = await waitFor('its runs to end', async () => {
    const { data } = (await call('GET', `/evaluations?improvement_id=${id}`)).body;
    return data.every(({ status }: { status: string }) => ENDED.includes(status)) && data.length;
  });
  const calls = taskCalls();
  expect((await control('retry')).body.error).toMatchObject({ code: 'invalid_state' });
  expect((await call('DELETE', `/improvements/${id}`)).body.error).toMatchObject({ code: 'invalid_state' });
  expect((await call('GET', `/evaluations?improvement_id=${id}`)).body.data).toHaveLength(quiet);
  expect(taskCalls()).toBe(calls);
  expect((await control('resume', { max_cost: 0.0000001 })).status).toBe(400);
  expect((await control('resume', { max_cost: 6 })).body).toMatchObject({ status: 'running', max_cost: '6' });
  await waitFor('the second round', async () => (await stage.read(id)).proposals.made > 4);
  expect((await control('finish')).body).toMatchObject({ status: 'running' });
  const ended = await stage.until(id, ...ENDED);
  expect(ended).toMatchObject({ status: 'completed', stop_reason: 'finished' });
  expect((await control('cancel')).body.error).toMatchObject({ code: 'invalid_state' });

  const other = await stage.begin(await seeded());
  expect((await call('POST', `/improvements/${other.id}/cancel`)).body).toMatchObject({
    status: 'canceled',
    verdict: null,
  });
  await waitFor('its runs to end', async () => {
    const { data } = (await call('GET', `/evaluations?improvement_id=${other.id}`)).body;
    return data.every(({ status }: { status: string }) => ENDED.includes(status));
  });
  stage.openai.behave();
  expect((await call('DELETE', `/improvements/${other.id}`)).status).toBe(200);
  expect((await call('GET', `/improvements/${other.id}`)).status).toBe(404);
  expect((await call('GET', `/evaluations?improvement_id=${other.id}`)).body.data).toEqual([]);
});

test('a request that cannot work is refused, with the field and what to change', async () => {
  const { call } = stage.service;
  const name = await seeded();
  await call('PUT', '/datasets/few', {
    raw: Array.from({ length: 40 }, (_, at) => JSON.stringify({ variables: { q: `${at}` }, expected: 'x' })).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const refusals: [object, string][] = [
    [{ dataset: 'few' }, 'dataset'],
    [{ max_cost: 0.0001 }, 'max_cost'],
    [{ max_cost: undefined }, 'max_cost'],
    [{ parts: ['messages.7'] }, 'parts.0'],
    [{ keep: ['something else'] }, 'keep.0'],
    [
      {
        evaluators: [
          {
            type: 'pairwise',
            model: 'openai/gpt-4o',
            rubric: 'Clear.',
            against: 'eval_01980000-0000-7000-8000-000000000001',
          },
        ],
      },
      'evaluators.0.against',
    ],
    [{ evaluators: [{ type: 'http', url: 'http://127.0.0.1:65000/' }] }, 'evaluators.0'],
    [{ reflection: { model: DEFAULTS.reflection.model, prompt: { name } } }, 'reflection.prompt'],
    [{ reflection: { model: 'nowhere/x' } }, 'reflection.model'],
  ];
  for (const [more, path] of refusals) {
    const { status, body } = await stage.create(name, more);
    expect([path, status, body.error?.details?.[0]?.path]).toEqual([path, 400, path]);
  }
  expect((await call('GET', `/improvements?prompt_name=${name}`)).body.data).toEqual([]);
});

test('a second look at the same examples needs more proof, and the same seed proposes the same', async () => {
  const name = await seeded();
  stage.reflect(only('add'));
  const looks = [];
  for (const seed of ['same', 'same']) {
    const { id } = await stage.begin(name, { max_proposals: 12, seed });
    looks.push({ row: await stage.until(id, ...ENDED), candidates: await stage.candidates(id) });
  }
  const [first, second] = looks;
  expect(second?.candidates.map(({ content, status }) => [content, status])).toEqual(
    first?.candidates.map(({ content, status }) => [content, status]),
  );
  expect([first?.row.verdict.p_needed, second?.row.verdict.p_needed]).toEqual([0.05, 0.025]);
  // Only the run that measures noise is paid again.
  expect(second?.row.spent.calls).toBe(second?.row.split.check);
});
