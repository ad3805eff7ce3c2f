import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', {
    body: { name: 'echo', template: 'Say {{ text }}.', model: 'sandbox/echo' },
  });
});
afterAll(() => service?.stop());

const REUSE = { reuse: { max_age: 3600 } };
const run = (body: object, headers: Record<string, string> = {}) =>
  service.call('POST', '/executions', { body: { prompt_name: 'echo', ...body }, headers });
const of = (text: string, more: object = {}) => run({ variables: { text }, ...more });
const age = (id: string, seconds: number) =>
  service.dependencies.db.system.query(
    { text: 'update executions set finished_at = now() - make_interval(secs => $2) where id = $1' },
    [id.replace('exec_', ''), seconds],
  );

test('the same call gets the earlier response at once, without a model or a workflow', async () => {
  const first = (await of('this')).body;
  const { status, body } = await of('this', { ...REUSE, metadata: { n: '2' } });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    status: 'completed',
    reused_from: first.id,
    output: first.output,
    finish_reason: first.finish_reason,
    input: first.input,
    tokens: { input: 0, output: 0, total: 0 },
    cost: { amount: '0' },
    calls: [],
    attempts: 0,
    metadata: { n: '2' },
    latency: { queue_ms: 0, model_ms: 0, total_ms: 0 },
  });
  expect(first.reused_from).toBeNull();
  const handle = service.dependencies.client.workflow.getHandle(body.workflow_id);
  await expect(handle.describe()).rejects.toThrow(WorkflowNotFoundError);
  const events = await service.call('GET', '/events?event=execution.completed');
  const data = events.body.data.map((event: { data: { execution_id: string } }) => event.data);
  expect(data.find((each: { execution_id: string }) => each.execution_id === body.id)).toMatchObject({
    tokens: { total: 0 },
    cost: { amount: '0' },
    latency: { queue_ms: 0, model_ms: 0, total_ms: 0 },
  });
});

test('a reused response is never reused: the paid execution is named', async () => {
  const first = (await of('original')).body;
  const second = (await of('original', REUSE)).body;
  await age(first.id, 60);
  expect((await of('original', REUSE)).body.reused_from).toBe(first.id);
  await age(first.id, 7200);
  // The remaining one is newer, but made no call.
  expect(second.reused_from).toBe(first.id);
  expect((await of('original', REUSE)).body.reused_from).toBeNull();
});

test.each([
  ['another input', { variables: { text: 'other' } }],
  ['another model', { model: 'sandbox/slow-1' }],
  ['another parameter', { parameters: { temperature: 0.1 } }],
  ['a message more', { messages: [{ role: 'user', content: 'and?' }] }],
  ['tools', { draft: { tools: [{ name: 'look_up', input_schema: { type: 'object' } }] } }],
])('a call with %s is another one', async (_, more) => {
  await of('mine');
  expect((await of('mine', { ...more, ...REUSE })).body).toMatchObject({ status: 'completed', reused_from: null });
});

test('the order of names does not matter, and a draft can reuse paid calls of a version', async () => {
  const stop = { openai: { store: false, user: 'a' } };
  const again = { openai: { user: 'a', store: false } };
  const first = await of('ordered', { parameters: { seed: 1, temperature: 0, provider_options: stop } });
  const second = await of('ordered', { parameters: { provider_options: again, temperature: 0, seed: 1 }, ...REUSE });
  expect(second.body.reused_from).toBe(first.body.id);
  const draft = { template: 'Say {{ text }}.', parameters: { temperature: 0, seed: 1, provider_options: stop } };
  expect((await of('ordered', { draft, ...REUSE })).body.reused_from).toBe(first.body.id);
});

test('older responses, failed calls and other workspaces are not reused', async () => {
  const old = (await of('old')).body;
  await age(old.id, 3601);
  expect((await of('old', REUSE)).body.reused_from).toBeNull();
  const failing = { draft: { template: 'x', model: 'sandbox/fail' }, ...REUSE };
  expect((await run(failing)).body.status).toBe('failed');
  expect((await run(failing)).body).toMatchObject({ status: 'failed', reused_from: null });
});

test('a response of a fallback belongs to that model', async () => {
  const draft = { template: 'fell back', model: 'sandbox/fail-401', fallback_models: ['sandbox/echo'] };
  const first = (await run({ draft })).body;
  expect((await run({ draft, ...REUSE })).body.reused_from).toBeNull();
  const direct = (await run({ draft: { template: 'fell back', model: 'sandbox/echo' }, ...REUSE })).body;
  expect(direct.reused_from).not.toBeNull();
  expect(first.model).toBe('sandbox/echo');
});

test('an Idempotency-Key returns the same execution', async () => {
  await of('keyed');
  const body = { variables: { text: 'keyed' }, ...REUSE };
  const [one, two] = [await run(body, { 'Idempotency-Key': 'r1' }), await run(body, { 'Idempotency-Key': 'r1' })];
  expect(two.body).toEqual(one.body);
  expect(two.headers.get('Idempotent-Replayed')).toBe('true');
});

test.each([0, 1.5, '1h', -1])('a max_age of %s is refused', async (maxAge) => {
  const { status, body } = await of('x', { reuse: { max_age: maxAge } });
  expect([status, body.error.details[0].path]).toEqual([400, 'reuse.max_age']);
});
