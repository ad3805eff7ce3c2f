import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ QUOTA_EXECUTIONS: '1' });
});
afterAll(() => service?.stop());

test('a judge that cannot be called spoils no other score, and a working one is no error', async () => {
  const judge = { type: 'llm_judge', model: 'sandbox/judge', rubric: 'Is it the expected text?' };
  const body = { evaluators: [judge, { ...judge, name: 'second' }], output: 'x', expected: 'x' };
  const first = await service.call('POST', '/evaluators/try', { body });
  expect(first.status).toBe(200);
  expect(first.body.scores).toHaveLength(2);
  expect(first.body.scores).toContainEqual(expect.objectContaining({ score: 1, problem: null }));
  expect(first.body.scores).toContainEqual(
    expect.objectContaining({
      problem: 'evaluator_error',
      reason: expect.stringContaining('could not be called'),
      execution_id: null,
      cost: null,
    }),
  );
  // It counts as long as it runs, and so did the judges': the quota is free again once they have ended.
  const stalled = await waitFor('an execution that is taken', async () => {
    const { status, body: created } = await service.call('POST', '/executions', {
      body: { draft: { template: 'x', model: 'sandbox/stall' } },
      headers: { Prefer: 'respond-async' },
    });
    return status === 201 && created;
  });
  const none = await service.call('POST', '/evaluators/try', { body });
  expect([none.status, none.body.error.code]).toEqual([429, 'quota_exceeded']);
  await service.call('POST', `/executions/${stalled.id}/cancel`);
});
