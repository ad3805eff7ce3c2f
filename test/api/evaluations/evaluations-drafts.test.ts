import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EvaluationStage, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({ answer: ({ prompt }) => ({ text: prompt, usage: { input: 10, output: 10 } }) });
});
afterAll(() => stage?.stop());

const evaluators = [{ type: 'exact_match' }];
const examples = [
  { id: 'a', variables: { text: 'a' }, expected: 'Say a' },
  { id: 'b', variables: { text: 'b' }, expected: 'Say b' },
];
const worse = { template: 'Shout {{ text }}' };
const get = async (path: string) => (await stage.service.call('GET', path)).body;

test('a draft is evaluated in place of a version, and creates none', async () => {
  await stage.service.call('PUT', '/prompts/say', {
    body: { tools: [{ name: 'look', input_schema: { type: 'object' } }] },
  });
  const before = await get('/prompts/say');
  const run = await stage.run({ draft: worse, examples, evaluators });
  expect(run).toMatchObject({
    status: 'completed',
    score: 0,
    prompt_name: 'say',
    prompt_version: 0,
    target: { type: 'prompt', name: 'say' },
    model: 'openai/gpt-4o-mini',
    error: null,
  });
  expect((await stage.results(run.id)).map(({ output }: { output: string }) => output)).toEqual(['Shout a', 'Shout b']);
  expect(await get('/prompts/say')).toEqual(before);
  // Omitted fields are those of the version; null removes them.
  const sent = () => stage.openai.calls.at(-1)?.body as { tools?: unknown[] };
  expect(sent().tools).toHaveLength(1);
  await stage.run({ draft: { ...worse, tools: null }, examples, evaluators });
  expect(sent().tools).toBeUndefined();
});

test('a draft is compared with the version before it, and is never a baseline for others', async () => {
  await stage.prompt('base');
  const run = (body: object) => stage.run({ prompt_name: 'base', examples, evaluators, ...body });
  const first = await run({});
  const draft = await run({ draft: worse });
  expect(draft).toMatchObject({ baseline_id: first.id, regressions: 2 });
  expect((await run({ draft: { template: 'Say {{ text }}' } })).baseline_id).toBe(first.id);
  expect((await run({})).baseline_id).toBe(first.id);
  // By its id it can be.
  expect(await run({ baseline: draft.id })).toMatchObject({ baseline_id: draft.id, improvements: 2 });
  expect(await get(`/evaluations/${draft.id}/compare/${first.id}`)).toMatchObject({ regressions: { total: 2 } });
});

test('a prompt that does not exist yet is evaluated by a whole draft', async () => {
  const body = { prompt_name: 'not/there/yet', examples, evaluators };
  const draft = { template: 'Say {{ text }}', model: 'openai/gpt-4o-mini' };
  expect(await stage.run({ ...body, draft })).toMatchObject({
    score: 1,
    prompt_name: 'not/there/yet',
    baseline_id: null,
  });
  expect((await stage.service.call('GET', '/prompts/not/there/yet')).status).toBe(404);
  expect(await stage.create({ ...body, draft: { template: 'x' } })).toMatchObject({
    status: 400,
    body: { error: { details: [expect.objectContaining({ path: 'draft.model' })] } },
  });
  expect(await stage.create({ ...body, draft, version: 1 })).toMatchObject({ status: 404 });
  expect(await stage.create({ ...body })).toMatchObject({ status: 404 });
});

test('a draft is checked like a version', async () => {
  const faults: [object, string][] = [
    [{ template: 'Say {{ text }} {{> nobody/has/this }}' }, 'draft.template'],
    [{ template: 'x', messages: [{ role: 'user', content: 'x' }] }, 'draft'],
    [{ model: 'nonsense' }, 'draft.model'],
    [{ template: 'Say {{ other }}' }, 'examples.0.variables.other'],
    [{ tool_choice: 'required', tools: null }, 'draft.tool_choice'],
  ];
  for (const [draft, path] of faults) {
    const { status, body } = await stage.create({ draft, examples, evaluators });
    expect([draft, status, body.error.details?.[0]?.path]).toEqual([draft, 400, expect.stringContaining(path)]);
  }
  const scheduled = {
    name: 'x',
    cron: '0 3 * * *',
    evaluation: { prompt_name: 'say', draft: worse, examples, evaluators },
  };
  expect((await stage.service.call('POST', '/schedules', { body: scheduled })).status).toBe(400);
});

test('it is estimated, rescored, read, exported and reviewed like any other', async () => {
  await stage.prompt('whole');
  const body = { prompt_name: 'whole', draft: worse, examples, evaluators };
  const estimate = await stage.service.call('POST', '/evaluations/estimate', { body });
  expect(estimate).toMatchObject({ status: 200, body: { model_calls: 2 } });
  const run = await stage.run(body);
  const rescored = await stage.service.call('POST', `/evaluations/${run.id}/rescore`, {
    body: { evaluators: [{ type: 'contains', value: 'Shout' }] },
  });
  expect(rescored.status).toBe(201);
  expect(await stage.until(rescored.body.id, 'completed')).toMatchObject({ score: 1, prompt_version: 0 });
  const csv = await stage.service.call('GET', `/evaluations/${run.id}/results`, { headers: { Accept: 'text/csv' } });
  expect(csv.status).toBe(200);
  const score = { name: 'good', value: 1, subject: { evaluation_id: run.id, example_id: 'a' } };
  expect((await stage.service.call('POST', '/scores', { body: { scores: [score] } })).status).toBe(201);
  expect((await get('/scores/summary?name=good&group_by=version')).data).toEqual([
    expect.objectContaining({ prompt_version: null, n: 1 }),
  ]);
  expect((await get('/evaluations?prompt_name=whole')).data).toHaveLength(2);
});

test("a draft's score is not a score of the prompt", async () => {
  await stage.prompt('scored');
  const body = { prompt_name: 'scored', examples, evaluators };
  const { id } = await stage.run(body);
  await stage.run({ ...body, draft: worse });
  expect((await get('/statistics/prompts/scored')).scores).toEqual([expect.objectContaining({ evaluation_id: id })]);
  const [row] = (await get('/statistics/prompts?group=scored')).data ?? [];
  if (row !== undefined) expect(row.last_evaluation).toMatchObject({ id });
});
