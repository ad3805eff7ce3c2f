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
