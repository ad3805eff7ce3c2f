import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createOtherWorkspace } from '../workspace.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({
    answer: ({ prompt }) => ({
      text: prompt.startsWith('You grade') ? '{"reason": "fine", "score": 5}' : 'ok',
      usage: { input: 1_000, output: 100 },
    }),
  });
  await stage.prompt('free', '{{ text }}', 'sandbox/echo');
  const evaluators = [{ type: 'llm_judge', model: 'gpt-4o-mini', rubric: 'Be kind.' }];
  await stage.run({ examples: examplesOf('a', 4) });
  await stage.run({ prompt_name: 'free', examples: examplesOf('b', 2), evaluators });
  await stage.service.call('POST', '/executions', { body: { prompt_name: 'say', variables: { text: 'x' } } });
});
afterAll(() => stage?.stop());

const usage = async (query: string) => (await stage.service.call('GET', `/usage?${query}`)).body;

test('costs of evaluations are beside those of executions, judges under their own model', async () => {
  const { data, evaluations } = await usage('group_by=prompt,model');
  expect(data).toMatchObject([{ prompt_name: 'say', executions: 1, cost: { amount: '0.00021' } }]);
  expect(evaluations).toEqual([
    {
      prompt_name: 'free',
      model: 'openai/gpt-4o-mini',
      examples: 0,
      judgements: 2,
      tokens: { input: 2_000, output: 200, cached_input: 0, reasoning: 0, total: 2_200 },
      cost: { amount: '0.00042', currency: 'USD' },
      unpriced: 0,
      latency: { mean_ms: null, responses: 0 },
    },
    expect.objectContaining({
      prompt_name: 'free',
      model: 'sandbox/echo',
      examples: 2,
      cost: { amount: '0', currency: 'USD' },
    }),
    expect.objectContaining({
      prompt_name: 'say',
      model: 'openai/gpt-4o-mini',
      examples: 4,
      judgements: 0,
      latency: { mean_ms: expect.any(Number), responses: 4 },
      cost: { amount: '0.00084', currency: 'USD' },
    }),
  ]);
});

test('one total, one day, one model', async () => {
  const total = (await usage('group_by=')).evaluations;
  expect(total).toMatchObject([{ examples: 6, judgements: 2, cost: { amount: '0.00126' } }]);
  const byDay = (await usage('group_by=day')).evaluations;
  expect(byDay.reduce((sum: number, row: { examples: number }) => sum + row.examples, 0)).toBe(6);
  expect((await usage('group_by=&model=sandbox/echo')).evaluations).toMatchObject([{ examples: 2, judgements: 0 }]);
  expect((await usage('since=2020-01-01T00:00:00Z&until=2020-02-01T00:00:00Z')).evaluations).toEqual([]);
});

test('another workspace sees nothing', async () => {
  const other = await createOtherWorkspace(stage.service, 'other');
  expect((await other.call('GET', '/usage')).body).toMatchObject({ data: [], evaluations: [] });
});
