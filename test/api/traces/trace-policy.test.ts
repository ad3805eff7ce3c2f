import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { agent, DONE, modelCall, newSpanId, newTraceId, send, settled, span, stepsOf } from './traces-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

let workspaces = 0;
async function newWorkspace(policy?: object) {
  workspaces += 1;
  const workspace = await createOtherWorkspace(service, `trace-policy-${workspaces}`);
  if (policy !== undefined)
    expect(await workspace.call('PUT', '/trace-policy', { body: policy })).toMatchObject({ status: 200 });
  return workspace;
}

const SECRET = `sk-proj-${'a1B2'.repeat(10)}`;
const text = (content: string) => JSON.stringify([{ role: 'user', parts: [{ type: 'text', content }] }]);

test('secrets are masked unless the policy says otherwise', async () => {
  const { call } = await newWorkspace();
  const { body: policy } = await call('GET', '/trace-policy');
  expect(policy).toEqual({ contents: 'keep', mask: ['secret'], drop_attributes: [], sample_rate: 1, others: 'keep' });
  const traceId = newTraceId();
  const attributes = {
    ...modelCall(1, 1, { 'gen_ai.input.messages': text(`My key is ${SECRET}, my mail ada@example.com`) }),
    'http.request.header.authorization': 'Basic YWRhOmxvdmVsYWNl',
    'db.password': 'hunter2',
  };
  await send(call, [span({ traceId, error: `Bearer ${'x'.repeat(30)} was refused`, attributes })]);
  const [step] = await stepsOf({ call }, traceId);
  expect(step.error.message).toBe('[secret] was refused');
  const { body: whole } = await call('GET', `/traces/${traceId}/steps/${step.id}`);
  expect(whole.input[0].content).toBe('My key is [secret], my mail ada@example.com');
  expect(whole.attributes).toMatchObject({
    'http.request.header.authorization': '[secret]',
    'db.password': '[secret]',
  });
  const { body: list } = await call('GET', '/executions');
  expect(JSON.stringify(list)).not.toContain(SECRET);
});

test('a policy masks, drops and samples both spans and recorded runs', async () => {
  const { call } = await newWorkspace({
    mask: ['email', 'card', 'phone', 'ip', { pattern: 'CUST-\\d{6}' }],
    drop_attributes: ['user.id', 'http.*'],
  });
  const said =
    'ada@example.com 4111 1111 1111 1111 or 4111 1111 1111 1112, +49 30 901820, 10.0.0.17, fe80::1, 999.1.1.1, 2026-01-31, CUST-123456';
  const masked = '[email] [card] or 4111 1111 1111 1112, [phone], [ip], [ip], 999.1.1.1, 2026-01-31, [masked]';
  const traceId = newTraceId();
  const attributes = modelCall(1, 1, { 'gen_ai.input.messages': text(said), 'user.id': 'ada', 'http.url': 'http://x' });
  await send(call, [span({ traceId, attributes })]);
  const record = {
    model: 'openai/gpt-4o-mini',
    input: said,
    output: said,
    started_at: new Date(Date.now() - 2_000),
    finished_at: new Date(Date.now() - 1_000),
    metadata: { who: 'ada@example.com' },
  };
  const { body } = await call('POST', '/executions/record', { body: { records: [record] } });
  expect((await call('GET', `/executions/${body.ids[0]}`)).body).toMatchObject({
    input: masked,
    output: masked,
    metadata: { who: '[email]' },
  });
  const [step] = await stepsOf({ call }, traceId);
  const { body: whole } = await call('GET', `/traces/${traceId}/steps/${step.id}`);
  expect(whole.input[0].content).toBe(masked);
  expect([whole.user_id, whole.attributes]).toEqual([null, {}]);
  expect((await call('GET', `/traces/${traceId}`)).body.input).toBe(masked);

  await call('PUT', '/trace-policy', { body: { contents: 'drop', sample_rate: 0.5 } });
  const [kept, left] = [`${newTraceId().slice(0, 24)}7fffffff`, `${newTraceId().slice(0, 24)}80000000`];
  for (const id of [kept, left])
    expect((await send(call, [span({ traceId: id, attributes: modelCall(3, 1) })])).body).toEqual({});
  expect((await call('GET', `/traces/${left}`)).status).toBe(404);
  expect((await call('GET', `/traces/${kept}`)).body).toMatchObject({
    input: null,
    output: null,
    tokens: { input: 3 },
  });
});

test('other steps are kept as skeletons or not at all, and traces without others are deleted', async () => {
  const { call } = await newWorkspace({ others: 'skeleton' });
  const [noise, run, root] = [newTraceId(), newTraceId(), newSpanId()];
  await send(call, [
    span({ traceId: noise, attributes: { 'http.url': 'http://x', ...DONE } }),
    span({ traceId: run, id: root, name: 'GET /', attributes: { 'http.url': 'http://x', ...DONE } }),
    span({ traceId: run, parent: root, attributes: agent(0, 0) }),
  ]);
  await settled({ call }, run);
  await until('noise is deleted', async () => (await call('GET', `/traces/${noise}`)).status === 404);
  const { body: top } = await call('GET', `/traces/${run}/steps/${root}`);
  expect(top).toMatchObject({ name: 'GET /', type: 'other', attributes: {} });
  await call('PUT', '/trace-policy', { body: { others: 'drop' } });
  const second = newTraceId();
  await send(call, [
    span({ traceId: second, id: root, attributes: {} }),
    span({ traceId: second, parent: root, attributes: agent(0, 0) }),
  ]);
  expect((await stepsOf({ call }, second)).map(({ type }) => type)).toEqual(['agent']);
});

test('an invalid policy is refused, and a change is recorded', async () => {
  const { call } = await newWorkspace();
  const wrong = [
    { mask: ['name'] },
    { mask: [{ pattern: '(' }] },
    { mask: [{ pattern: '(a)\\1' }] },
    { mask: Array.from({ length: 11 }, () => 'email') },
    { sample_rate: 2 },
    { others: 'none' },
    { contents: 1 },
    { more: true },
  ];
  for (const body of wrong) expect([body, (await call('PUT', '/trace-policy', { body })).status]).toEqual([body, 400]);
  await call('PUT', '/trace-policy', { body: { mask: [] } });
  const { body: log } = await call('GET', '/audit-log?action=trace_policy.updated');
  expect(log.data).toMatchObject([{ resource: { type: 'trace_policy' }, details: { mask: [] } }]);
});

test('trace.completed is written once, however often a trace is settled', async () => {
  const { call } = await newWorkspace();
  await call('POST', '/webhooks', { body: { url: 'http://127.0.0.1:65000/', events: ['trace.completed'] } });
  const [traceId, root] = [newTraceId(), newSpanId()];
  await send(call, [span({ traceId, id: root, name: 'run', attributes: { ...agent(0, 0), ...DONE } })]);
  await settled({ call }, traceId);
  await send(call, [span({ traceId, parent: root, attributes: modelCall(52, 9) })]);
  expect(await settled({ call }, traceId)).toMatchObject({ steps: 2 });
  const { body } = await call('GET', '/events?event=trace.completed');
  expect(body.data).toMatchObject([
    {
      event: 'trace.completed',
      data: { trace_id: traceId, name: 'run', steps: 1, status: 'ok', cost: { currency: 'USD' } },
    },
  ]);
});
