import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', { body: { name: 'echo', template: '{{ text }}', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

async function finished(id: string) {
  return waitFor(`the end of ${id}`, async () => {
    const { body } = await service.call('GET', `/evaluations/${id}`);
    return ['completed', 'failed', 'canceled'].includes(body.status) && body;
  });
}

test('scores inline examples and counts those below the threshold', async () => {
  const created = await service.call('POST', '/evaluations', {
    body: {
      prompt_name: 'echo',
      examples: [
        { id: 'same', variables: { text: 'yes' }, expected: 'yes' },
        { id: 'other', variables: { text: 'no' }, expected: 'yes' },
      ],
    },
  });
  expect(created.status).toBe(201);
  const run = await finished(created.body.id);
  expect(run).toMatchObject({
    status: 'completed',
    score: 0.5,
    scores_by_evaluator: { exact_match: 0.5 },
    examples_total: 2,
    examples_evaluated: 2,
    examples_failed: 0,
    regressions: 1,
    passed: false,
    baseline_id: null,
    cost: { amount: '0', currency: 'USD' },
    progress: 1,
  });
  const results = await service.call('GET', `/evaluations/${run.id}/results`);
  expect(results.body.data).toMatchObject([
    { example_id: 'same', score: 1, regression: false, output: 'yes' },
    { example_id: 'other', score: 0, regression: true, output: 'no' },
  ]);
});

test('a run has a name that can be changed and removed; the same name again is no change', async () => {
  const examples = [{ variables: { text: 'yes' }, expected: 'yes' }];
  const create = async (more: object) =>
    (await service.call('POST', '/evaluations', { body: { prompt_name: 'echo', examples, ...more } })).body;
  const { id, name } = await create({ name: '  Shorter answers ' });
  expect(name).toBe('Shorter answers');
  expect((await create({})).name).toBeNull();
  const rename = (body: object) => service.call('PATCH', `/evaluations/${id}`, { body });
  for (const given of ['Kinder answers', 'Kinder answers', null]) {
    const changed = await rename({ name: given });
    expect([changed.status, changed.body.name]).toEqual([200, given]);
    expect((await service.call('GET', `/evaluations/${id}`)).body.name).toBe(given);
  }
  const { body } = await service.call('GET', `/audit-log?resource=evaluation:${id}`);
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual([
    'evaluation.updated',
    'evaluation.updated',
  ]);
  for (const body of [{}, { name: ' ' }, { name: 'x'.repeat(201) }, { name: 'x', threshold: 1 }])
    expect((await rename(body)).body.error.code).toBe('invalid_request');
});
