import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const run = (draft: object, more: object = {}) =>
  service.call('POST', '/executions', { body: { draft: { template: 'Hi', ...draft }, ...more } });

test('the model that answered, the first one and every call with its cost are shown', async () => {
  const since = new Date().toISOString();
  const { status, body } = await run({
    model: 'sandbox/fail-401',
    fallback_models: ['sandbox/fail', 'sandbox/fail-401', 'sandbox/echo'],
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    status: 'completed',
    requested_model: 'sandbox/fail-401',
    model: 'sandbox/echo',
    attempts: 3,
    calls: [
      { model: 'sandbox/fail-401', tokens: null, cost: { amount: null }, error: { code: 'model_authentication' } },
      { model: 'sandbox/fail', tokens: null, cost: { amount: null }, error: { code: 'model_unavailable' } },
      { model: 'sandbox/echo', tokens: body.tokens, cost: { amount: body.cost.amount }, error: null },
    ],
    error: null,
  });
  const { data } = (await service.call('GET', `/usage?since=${since}&group_by=model`)).body;
  expect(data).toMatchObject([{ model: 'sandbox/echo', executions: 1, completed: 1 }]);
  const handle = service.dependencies.client.workflow.getHandle(body.workflow_id);
  const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toMatch(/^\*\*completed\*\* sandbox\/echo, instead of sandbox\/fail \(model_unavailable: /);
});

test('if none is left, the execution has the last error', async () => {
  const { body } = await run({ model: 'sandbox/fail-401', fallback_models: ['sandbox/fail'] });
  expect(body).toMatchObject({
    status: 'failed',
    model: 'sandbox/fail',
    requested_model: 'sandbox/fail-401',
    error: { code: 'model_unavailable' },
  });
});

test('a call that no model accepts is not tried on the next', async () => {
  const { body } = await run({ model: 'sandbox/fail-400', fallback_models: ['sandbox/echo'] });
  expect(body).toMatchObject({
    status: 'failed',
    model: 'sandbox/fail-400',
    attempts: 1,
    calls: [{ model: 'sandbox/fail-400' }],
  });
});

test('one model with credentials will do; none is a 400 about the first', async () => {
  const { body } = await run({ model: 'gpt-4o-mini', fallback_models: ['sandbox/echo'] });
  expect(body).toMatchObject({ status: 'completed', requested_model: 'openai/gpt-4o-mini', model: 'sandbox/echo' });
  const refused = await run({ model: 'gpt-4o-mini', fallback_models: ['claude-haiku-4-5'] });
  expect(refused).toMatchObject({ status: 400, body: { error: { details: [{ path: 'draft.model' }] } } });
  expect(refused.body.error.message).toContain('OPENAI_API_KEY');
});

test('the model of the request precedes the fallbacks of the version', async () => {
  const { body } = await run(
    { model: 'sandbox/json', fallback_models: ['sandbox/echo'] },
    { model: 'sandbox/fail-401' },
  );
  expect(body).toMatchObject({ requested_model: 'sandbox/fail-401', model: 'sandbox/echo' });
});

test('a stored version falls back to its models, in order', async () => {
  const fallbackModels = ['sandbox/fail', 'sandbox/echo', 'sandbox/json'];
  const prompt = {
    name: 'resilient',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Greet {{ name }}.' },
    ],
    model: 'sandbox/fail-404',
    fallback_models: fallbackModels,
  };
  expect((await service.call('POST', '/prompts', { body: prompt })).status).toBe(201);
  const body = { prompt_name: 'resilient', variables: { name: 'Ada' } };
  const { body: execution } = await service.call('POST', '/executions', { body });
  expect(execution).toMatchObject({
    prompt_version: 1,
    requested_model: 'sandbox/fail-404',
    model: 'sandbox/echo',
    output: 'Greet Ada.',
    calls: [{ error: { code: 'model_not_found' } }, { error: { code: 'model_unavailable' } }, { error: null }],
  });
});

test('a call in flight is among the calls, and a cancellation ends it', async () => {
  const { body } = await service.call('POST', '/executions', {
    body: { draft: { template: 'Hi', model: 'sandbox/stall' } },
    headers: { Prefer: 'respond-async' },
  });
  const read = async () => (await service.call('GET', `/executions/${body.id}`)).body;
  let running = await read();
  while (running.status !== 'running') running = await read();
  expect(running.calls).toEqual([
    {
      model: 'sandbox/stall',
      started_at: running.started_at,
      duration_ms: null,
      tokens: null,
      cost: { amount: null, currency: 'USD' },
      error: null,
    },
  ]);
  const canceled = await service.call('POST', `/executions/${body.id}/cancel`);
  expect(canceled.body.calls).toMatchObject([{ error: { code: 'canceled' } }]);
});
