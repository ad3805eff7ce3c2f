import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fillQueues } from '../../../src/jobs/fill-queues.ts';
import { expireTraces } from '../../../src/services/traces/delete-traces.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { agent, DONE, modelCall, newSpanId, newTraceId, send, settled, span } from '../traces/traces-support.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

type Caller = Pick<TestService, 'call'>;
const fill = () => fillQueues(service.dependencies, new AbortController().signal);

/** An agent with one call, which has settled. */
async function run({ call }: Caller, name: string, traceId = newTraceId()) {
  const [root, child] = [newSpanId(), newSpanId()];
  await send(call, [
    span({ traceId, id: child, parent: root, attributes: modelCall(5, 2) }),
    span({
      traceId,
      id: root,
      attributes: agent(0, 0, { 'gen_ai.agent.name': name, 'input.value': 'Rain?', ...DONE }),
    }),
  ]);
  await settled({ call }, traceId);
  return { traceId, root, child };
}

async function put({ call }: Caller, name: string, body: object = {}) {
  const answer = await call('PUT', `/queues/${name}`, { body: { score_names: ['solved'], ...body } });
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return answer.body;
}
const subjectsOf = async ({ call }: Caller, name: string) =>
  (await call('GET', `/queues/${name}/items?limit=1000`)).body.data.map(({ subject }: { subject: object }) => subject);
const add = ({ call }: Caller, name: string, body: object) => call('POST', `/queues/${name}/items`, { body });

test('traces and steps are added by hand, once each, and what people score lands on them', async () => {
  const own = await createOtherWorkspace(service, 'trace-queues');
  await put(own, 'by-hand');
  const { traceId, child } = await run(own, 'hand');
  const traces = [{ trace_id: traceId }, { trace_id: traceId, span_id: child }];
  expect((await add(own, 'by-hand', { traces })).body).toEqual({ added: 2, present: 0 });
  expect((await add(own, 'by-hand', { traces: [...traces, { trace_id: traceId.toUpperCase() }] })).body).toEqual({
    added: 0,
    present: 2,
  });
  expect(new Set(await subjectsOf(own, 'by-hand'))).toEqual(new Set(traces));
  for (let left = 2; left > 0; left -= 1) {
    const { body } = await own.call('POST', '/queues/by-hand/next');
    const isTrace = body.item.subject.span_id === undefined;
    const done = await own.call('POST', `/queues/by-hand/items/${body.item.id}/complete`, {
      body: {
        scores: [{ name: 'solved', value: isTrace }],
        ...(isTrace && { correction: 'Yes.', dataset: 'corrected' }),
      },
    });
    expect([done.status, done.body.state]).toEqual([200, 'completed']);
  }
  const scores = async (path: string) =>
    (await own.call('GET', path)).body.scores.map(({ value, source }: { value: boolean; source: string }) => [
      value,
      source,
    ]);
  expect(await scores(`/traces/${traceId}`)).toEqual([[true, 'person']]);
  expect(await scores(`/traces/${traceId}/steps/${child}`)).toEqual([[false, 'person']]);
  const examples = await own.call('GET', '/datasets/corrected/examples');
  expect(examples.body.data).toMatchObject([
    { id: traceId, variables: { input: 'Rain?' }, expected: 'Yes.', metadata: { trace_id: traceId, queue: 'by-hand' } },
  ]);
});

test('traces enter by a filter when they settle, or when a score makes them match; executions do not', async () => {
  const own = await createOtherWorkspace(service, 'filled-by-traces');
  await put(own, 'settled', { trace_filter: { agent: 'travel' } });
  await put(own, 'poor', { trace_filter: { agent: 'travel', score: ['solved=false'] } });
  await put(own, 'none', { trace_filter: {}, sample_rate: 0 });
  await put(own, 'runs', { filter: {} });
  const { traceId, root } = await run(own, 'travel');
  await run(own, 'other');
  await fill();
  expect(await subjectsOf(own, 'settled')).toEqual([{ trace_id: traceId }]);
  expect(await subjectsOf(own, 'poor')).toEqual([]);
  expect(await subjectsOf(own, 'none')).toEqual([]);
  expect(await subjectsOf(own, 'runs')).toHaveLength(2);
  const score = { name: 'solved', value: false, subject: { trace_id: traceId } };
  expect((await own.call('POST', '/scores', { body: score })).status).toBe(201);
  await send(own.call, [span({ traceId, parent: root, name: 'late', attributes: DONE })]);
  await settled(own, traceId);
  await fill();
  expect(await subjectsOf(own, 'poor')).toEqual([{ trace_id: traceId }]);
  expect(await subjectsOf(own, 'settled')).toHaveLength(1);
  expect((await own.call('GET', '/queues/settled')).body).toMatchObject({
    trace_filter: { agent: 'travel' },
    filter: null,
  });
});

test('past traces are added by a filter, newest first', async () => {
  const own = await createOtherWorkspace(service, 'past-traces');
  await put(own, 'past');
  const [first, second] = [await run(own, 'past'), await run(own, 'past')];
  expect((await add(own, 'past', { trace_filter: { agent: 'past' }, limit: 1 })).body).toEqual({
    added: 1,
    present: 0,
  });
  expect((await add(own, 'past', { trace_filter: { agent: 'past' } })).body).toEqual({ added: 1, present: 1 });
  expect(new Set(await subjectsOf(own, 'past'))).toEqual(
    new Set([{ trace_id: first.traceId }, { trace_id: second.traceId }]),
  );
});

test('items go with their trace, when it is deleted or expires, and only in its workspace', async () => {
  const own = await createOtherWorkspace(service, 'gone-traces');
  const others = await createOtherWorkspace(service, 'staying-traces');
  const { traceId, child } = await run(own, 'gone');
  await run(others, 'gone', traceId);
  for (const caller of [own, others]) {
    await put(caller, 'gone');
    await add(caller, 'gone', { traces: [{ trace_id: traceId }] });
  }
  await add(own, 'gone', { traces: [{ trace_id: traceId, span_id: child }] });
  const { body } = await own.call('POST', '/queues/gone/next');
  expect((await own.call('DELETE', `/traces/${traceId}`)).status).toBe(200);
  expect(await subjectsOf(own, 'gone')).toEqual([]);
  const late = { scores: [{ name: 'solved', value: true }] };
  expect((await own.call('POST', `/queues/gone/items/${body.item.id}/complete`, { body: late })).status).toBe(404);
  expect(await subjectsOf(others, 'gone')).toEqual([{ trace_id: traceId }]);
  const { db } = service.dependencies;
  await db.system.query(
    { text: `update traces set started_at = now() - interval '40 days' where replace(id::text, '-', '') = $1` },
    [traceId],
  );
  await expireTraces(db.system, 35 * 24 * 60 * 60_000, new AbortController().signal);
  expect(await subjectsOf(others, 'gone')).toEqual([]);
});

test('what is not there, and two filters at once, are refused', async () => {
  const own = await createOtherWorkspace(service, 'refused-traces');
  const others = await createOtherWorkspace(service, 'foreign-traces');
  await put(own, 'refused');
  const { traceId } = await run(others, 'foreign');
  const refused = async (body: object) => {
    const { status, body: answer } = await add(own, 'refused', body);
    return [status, answer.error.details?.[0]?.path];
  };
  expect(await refused({ traces: [{ trace_id: traceId }] })).toEqual([400, 'traces']);
  const mine = await run(own, 'mine');
  expect(await refused({ traces: [{ trace_id: mine.traceId, span_id: newSpanId() }] })).toEqual([400, 'traces']);
  expect(await refused({ filter: {}, trace_filter: {} })).toEqual([400, 'trace_filter']);
  expect(await refused({ sample_rate: 0.5, traces: [{ trace_id: mine.traceId }] })).toEqual([400, 'sample_rate']);
  const both = await own.call('PUT', '/queues/refused', { body: { score_names: ['x'], filter: {}, trace_filter: {} } });
  expect(both.status).toBe(400);
});
