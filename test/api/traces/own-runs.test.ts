import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import {
  agent,
  DONE,
  modelCall,
  newSpanId,
  newTraceId,
  send,
  settled,
  span,
  stepsOf,
  usageOf,
} from './traces-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

let workspaces = 0;
async function newWorkspace() {
  workspaces += 1;
  const workspace = await createOtherWorkspace(service, `own-runs-${workspaces}`);
  await workspace.call('POST', '/prompts', { body: { name: 'echo', template: 'Hi', model: 'sandbox/echo' } });
  return workspace;
}

const traced = (traceId: string, parent: string) => ({ headers: { traceparent: `00-${traceId}-${parent}-01` } });
const run = async (call: Call, options: Parameters<Call>[2] = {}) =>
  (await call('POST', '/executions', { body: { prompt_name: 'echo' }, ...options })).body;
const doneSpan = (traceId: string, id: string) =>
  span({ traceId, id, name: 'run', attributes: { ...agent(0, 0), ...DONE } });

test('a run of the service is a step in the trace of its traceparent, whichever comes first', async () => {
  const { call } = await newWorkspace();
  const [traceId, root] = [newTraceId(), newSpanId()];
  const before = await run(call, traced(traceId, root));
  expect(before).toMatchObject({ trace_id: traceId, parent_id: root, kind: 'model', conversation_id: null });
  expect((await call('GET', `/traces/${traceId}`)).status).toBe(404);
  await send(call, [span({ traceId, id: root, name: 'run', ms: null, attributes: agent(0, 0) })]);
  expect((await call('GET', `/traces/${traceId}`)).body).toMatchObject({ steps: 2, calls: 1, tokens: before.tokens });
  const later = await run(call, traced(traceId, root));
  await send(call, [doneSpan(traceId, root)]);
  const trace = await settled({ call }, traceId);
  expect(trace).toMatchObject({ name: 'run', steps: 3, calls: 2, tokens: { total: 2 * before.tokens.total } });
  const steps = await stepsOf({ call }, traceId);
  expect(
    steps.map(({ id, parent_id, type, name, status, execution_id }) => [
      id,
      parent_id,
      type,
      name,
      status,
      execution_id,
    ]),
  ).toEqual(
    [
      [root, null, 'agent', 'run', 'ok', null],
      [before.span_id, root, 'model', 'echo', 'ok', before.id],
      [later.span_id, root, 'model', 'echo', 'ok', later.id],
    ].toSorted((a, b) => (a[2] === b[2] ? 0 : a[2] === 'agent' ? -1 : 1)),
  );
  const { body: step } = await call('GET', `/traces/${traceId}/steps/${before.span_id}`);
  expect(step).toMatchObject({ input: 'Hi', output: before.output, model: 'echo', provider: 'sandbox' });
  const { body: list } = await call('GET', `/executions?trace_id=${traceId.toUpperCase()}`);
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual([later.id, before.id]);
  expect((await call('GET', '/executions?trace_id=17')).status).toBe(400);
  await call('DELETE', `/traces/${traceId}`);
  expect((await call('GET', `/executions/${before.id}`)).status).toBe(200);
});

test('chat completions and responses are in the trace, too; an invalid traceparent is ignored', async () => {
  const { call } = await newWorkspace();
  const [traceId, root] = [newTraceId(), newSpanId()];
  const body = { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] };
  expect((await call('POST', '/chat/completions', { body, ...traced(traceId, root) })).status).toBe(200);
  const response = { body: { model: 'echo', input: 'Hi', store: true }, ...traced(traceId, root) };
  expect((await call('POST', '/responses', response)).status).toBe(200);
  expect((await call('GET', `/executions?trace_id=${traceId}`)).body.data).toHaveLength(2);
  for (const traceparent of ['00-0-0-01', `00-${'0'.repeat(32)}-${root}-01`, 'x'.repeat(5_000)])
    expect(await run(call, { headers: { traceparent } })).toMatchObject({ trace_id: null, span_id: null, kind: null });
});

test('a span around or inside a run of the service does not count it twice', async () => {
  const { call } = await newWorkspace();
  const [traceId, outer] = [newTraceId(), newSpanId()];
  // Like an instrumented OpenAI client, whose span is around the request.
  const own = await run(call, traced(traceId, outer));
  const { input, output } = own.tokens;
  await send(call, [span({ traceId, id: outer, attributes: modelCall(input, output) })]);
  // Like the telemetry of the service itself.
  await send(call, [
    span({ traceId, parent: outer, attributes: modelCall(input, output, { ...DONE, 'pms.execution.id': own.id }) }),
  ]);
  expect(await settled({ call }, traceId)).toMatchObject({ steps: 2, calls: 1, tokens: { input, output } });
  expect(await usageOf(call)).toMatchObject({ executions: 0 });
  expect((await call('GET', '/executions')).body.data).toHaveLength(1);
});

test('a call that is recorded and sent as a span is one call, in any order and with any id', async () => {
  const record = (traceId: string, spanId: string, others = {}) => ({
    trace_id: traceId,
    span_id: spanId,
    conversation_id: 'chat-1',
    model: 'openai/gpt-4o-mini',
    input: 'Hi',
    output: 'Hello',
    tokens: { input: 52, output: 9 },
    started_at: new Date(Date.now() - 10_000).toISOString(),
    finished_at: new Date(Date.now() - 9_900).toISOString(),
    ...others,
  });
  // Together, because some of these traces are settled only after half a minute.
  const cases = [undefined, 'call-17'].flatMap((id) =>
    (['record', 'span', 'both'] as const).map((order) => ({ id, order })),
  );
  await Promise.all(
    cases.map(async ({ id, order }) => {
      const { call } = await newWorkspace();
      const [traceId, spanId] = [newTraceId(), newSpanId()];
      const recordIt = () =>
        call('POST', '/executions/record', { body: { records: [record(traceId, spanId, { id })] } });
      const sendIt = () => send(call, [span({ traceId, id: spanId, attributes: modelCall(52, 9, DONE) })]);
      if (order === 'both') await Promise.all([recordIt(), sendIt()]);
      else for (const step of order === 'record' ? [recordIt, sendIt] : [sendIt, recordIt]) await step();
      const again = await recordIt();
      expect(again.status).toBe(201);
      const trace = await settled({ call }, traceId);
      expect([id, order, trace]).toMatchObject([id, order, { steps: 1, calls: 1, tokens: { input: 52, output: 9 } }]);
      expect(await usageOf(call)).toMatchObject({ executions: 1, input: 52, output: 9 });
      const [step] = await stepsOf({ call }, traceId);
      expect([id, order, step.execution_id]).toEqual([id, order, again.body.ids[0]]);
      expect((await call('GET', `/executions/${step.execution_id}`)).body).toMatchObject({
        trace_id: traceId,
        span_id: spanId,
        recorded: true,
      });
      await call('DELETE', `/traces/${traceId}`);
      expect((await call('GET', '/executions')).body.data).toEqual([]);
    }),
  );
});

test('recorded runs alone form a trace, of any kind of step', async () => {
  const { call } = await newWorkspace();
  const [traceId, top] = [newTraceId(), newSpanId()];
  const times = { started_at: new Date(Date.now() - 10_000), finished_at: new Date(Date.now() - 9_000) };
  const record = (others: object) => ({
    model: 'openai/gpt-4o-mini',
    input: 'Hi',
    output: 'Hello',
    ...times,
    ...others,
  });
  const records = [
    record({ trace_id: traceId, span_id: top, kind: 'agent', conversation_id: 'chat-9' }),
    record({ trace_id: traceId, parent_id: top, kind: 'embedding', tokens: { input: 5, output: 0 } }),
    record({ conversation_id: 'chat-9' }),
  ];
  const { status, body } = await call('POST', '/executions/record', { body: { records } });
  expect([status, body.ids.length]).toEqual([201, 3]);
  expect((await call('GET', `/traces/${traceId}`)).body).toMatchObject({
    steps: 2,
    calls: 2,
    conversation_id: 'chat-9',
    input: 'Hi',
    output: 'Hello',
    tokens: { input: 5 },
  });
  expect((await stepsOf({ call }, traceId)).map(({ type }) => type)).toEqual(['agent', 'embedding']);
  expect((await call('GET', `/executions/${body.ids[2]}`)).body).toMatchObject({
    trace_id: null,
    conversation_id: 'chat-9',
  });
  for (const wrong of [
    { span_id: top },
    { kind: 'model' },
    { trace_id: '0'.repeat(32) },
    { trace_id: traceId, kind: 'x' },
  ])
    expect((await call('POST', '/executions/record', { body: { records: [record(wrong)] } })).status).toBe(400);
});

const isMarked = async (traceId: string) => {
  const [row] = await service.dependencies.db.system.query<{ complete: boolean }>(
    { text: 'select bool_or(complete) as complete from trace_steps where trace_id = $1' },
    [traceId],
  );
  return row?.complete;
};

test('the mark of a complete trace is kept when a recorded run already has the step, and nothing else of the step changes', async () => {
  const { call } = await newWorkspace();
  const [traceId, spanId] = [newTraceId(), newSpanId()];
  const times = { started_at: new Date(Date.now() - 2_000), finished_at: new Date(Date.now() - 1_000) };
  const record = { ...times, model: 'openai/gpt-4o-mini', input: 'a', output: 'b', trace_id: traceId, span_id: spanId };
  expect((await call('POST', '/executions/record', { body: { records: [record] } })).status).toBe(201);
  expect(await isMarked(traceId)).toBe(false);
  const before = await stepsOf({ call }, traceId);
  await send(call, [span({ traceId, id: spanId, name: 'again', attributes: { ...modelCall(1, 1), ...DONE } })]);
  expect(await isMarked(traceId)).toBe(true);
  expect(await stepsOf({ call }, traceId)).toEqual(before);
  expect(await settled({ call }, traceId)).toMatchObject({ steps: 1, calls: 1 });
});

test('the mark of a running step is kept when its end has none, in one request and in two', async () => {
  const { call } = await newWorkspace();
  for (const together of [true, false]) {
    const [traceId, id] = [newTraceId(), newSpanId()];
    const running = span({ traceId, id, ms: null, attributes: { ...agent(0, 0), ...DONE } });
    const ended = span({ traceId, id, attributes: agent(0, 0) });
    for (const spans of together ? [[running, ended]] : [[running], [ended]]) await send(call, spans);
    expect([await isMarked(traceId), (await stepsOf({ call }, traceId))[0].status]).toEqual([true, 'ok']);
  }
});
