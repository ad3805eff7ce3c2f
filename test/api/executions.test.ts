import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('runs a prompt and records its tokens, cost and latency', async () => {
  await service.call('POST', '/prompts', {
    body: { name: 'greetings/hello', template: 'Say hello to {{ name }}.', model: 'sandbox/echo' },
  });
  const run = await service.call('POST', '/executions', {
    body: { prompt_name: 'greetings/hello', variables: { name: 'Ada' }, metadata: { customer: 'acme' } },
  });
  expect(run.status).toBe(201);
  expect(run.body).toMatchObject({
    status: 'completed',
    prompt_name: 'greetings/hello',
    prompt_version: 1,
    model: 'sandbox/echo',
    provider: 'sandbox',
    input: 'Say hello to Ada.',
    output: 'Say hello to Ada.',
    finish_reason: 'stop',
    cost: { amount: '0', currency: 'USD' },
    attempts: 1,
    error: null,
    metadata: { customer: 'acme' },
  });
  expect(run.body.tokens.total).toBe(run.body.tokens.input + run.body.tokens.output);
  expect(run.body.latency.total_ms).toBeGreaterThanOrEqual(run.body.latency.model_ms);
  const read = await service.call('GET', `/executions/${run.body.id}`);
  expect(read.body).toEqual(run.body);
});
