import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expireTraces } from '../../../src/services/traces/delete-traces.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { agent, modelCall, newSpanId, newTraceId, type Span, send, span } from './traces-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

type Caller = Pick<TestService, 'call'>;
const score = ({ call }: Caller, name: string, value: unknown, subject: object, others: object = {}) =>
  call('POST', '/scores', { body: { name, value, subject, ...others } });

/** An agent with one call. */
async function run({ call }: Caller, attributes: Parameters<typeof agent>[2] = {}) {
  const [traceId, root, child] = [newTraceId(), newSpanId(), newSpanId()];
  const spans = [
    span({ traceId, id: root, attributes: agent(5, 2, attributes) }),
    span({ traceId, id: child, parent: root, attributes: modelCall(5, 2) }),
  ];
  expect((await send(call, spans)).status).toBe(200);
  return { traceId, root, child };
}

const evaluated = (one: Span, ...results: { name: string; value?: number; label?: string; why?: string }[]) => ({
  ...one,
  events: results.map(({ name, value, label, why }) => ({
    name: 'gen_ai.evaluation.result',
    timeUnixNano: one.startTimeUnixNano,
    attributes: [
      { key: 'gen_ai.evaluation.name', value: { stringValue: name } },
      ...(value === undefined ? [] : [{ key: 'gen_ai.evaluation.score.value', value: { doubleValue: value } }]),
      ...(label === undefined ? [] : [{ key: 'gen_ai.evaluation.score.label', value: { stringValue: label } }]),
      ...(why === undefined ? [] : [{ key: 'gen_ai.evaluation.explanation', value: { stringValue: why } }]),
    ],
  })),
});

test('a trace, a step and a conversation are scored, and their records show it', async () => {
  const own = await createOtherWorkspace(service, 'trace-scores');
  const { traceId, child } = await run(own, { 'gen_ai.conversation.id': 'chat 1' });
  const stored = await own.call('POST', '/scores', {
    body: {
      scores: [
        { name: 'solved', value: true, subject: { trace_id: traceId.toUpperCase() }, comment: 'at last' },
        { name: 'polite', value: 0.4, subject: { trace_id: traceId, span_id: child } },
        { name: 'stars', value: 4, subject: { conversation_id: 'chat 1' } },
      ],
    },
  });
  expect([stored.status, stored.body.data?.map(({ subject }: { subject: object }) => subject)]).toEqual([
    201,
    [{ trace_id: traceId }, { trace_id: traceId, span_id: child }, { conversation_id: 'chat 1' }],
  ]);
  const get = async (path: string) => (await own.call('GET', path)).body;
  const names = (record: { scores?: { name: string }[] }) => record.scores?.map(({ name }) => name);
  expect(names(await get(`/traces/${traceId}`))).toEqual(['solved']);
  expect(names(await get(`/traces/${traceId}/steps/${child}`))).toEqual(['polite']);
  expect(names(await get('/conversations/chat%201'))).toEqual(['stars']);
  expect(names((await get('/traces')).data[0])).toBeUndefined();
  const listed = async (query: string) =>
    (await get(`/scores?${query}`)).data.map(({ name }: { name: string }) => name);
  expect(await listed(`trace_id=${traceId}`)).toEqual(['polite', 'solved']);
  expect(await listed(`trace_id=${traceId}&span_id=${child}`)).toEqual(['polite']);
  expect(await listed('conversation_id=chat%201')).toEqual(['stars']);
  // Callers who do not request them may not know these subjects.
  expect(await listed('source=api')).toEqual([]);
  expect(await listed('subject=trace')).toEqual(['polite', 'solved']);
  const csv = await own.call('GET', `/scores?format=csv&trace_id=${traceId}&name=polite`);
  expect(csv.body.split('\n')[1]).toMatch(new RegExp(`,${traceId},${child},\\r?$`));
  expect((await get('/scores/summary?name=solved')).data).toEqual([
    expect.objectContaining({ name: 'solved', n: 1, share_true: 1 }),
  ]);
  const found = async (condition: string) =>
    (await get(`/traces?score=${encodeURIComponent(condition)}`)).data.map(({ id }: { id: string }) => id);
  expect(await found('solved=true')).toEqual([traceId]);
  expect(await found('polite<0.5')).toEqual([traceId]);
  expect(await found('polite>0.5')).toEqual([]);
  expect((await own.call('GET', '/traces?score=polite')).status).toBe(400);
});

test('nonsense is no subject', async () => {
  for (const subject of [
    { trace_id: 'x' },
    { trace_id: newTraceId(), span_id: 'y' },
    { span_id: newSpanId() },
    { conversation_id: '' },
    { conversation_id: 'x'.repeat(201) },
    { conversation_id: 'a\u0000b' },
    { trace_id: newTraceId(), conversation_id: 'both' },
  ])
    expect([subject, (await score(service, 'x', 1, subject)).status]).toEqual([subject, 400]);
});

test('a score can precede its trace, and replaces itself by its id', async () => {
  const [traceId, id] = [newTraceId(), `score_${crypto.randomUUID()}`];
  expect((await score(service, 'early', 1, { trace_id: traceId }, { id })).status).toBe(201);
  expect((await score(service, 'early', 2, { trace_id: traceId }, { id })).status).toBe(201);
  expect((await score(service, 'early', 2, { trace_id: newTraceId() }, { id })).status).toBe(400);
  await send(service.call, [span({ traceId })]);
  const { scores } = (await service.call('GET', `/traces/${traceId}`)).body;
  expect(scores).toEqual([expect.objectContaining({ name: 'early', value: 2 })]);
});

test('judges are compared with people on traces, steps and conversations separately', async () => {
  const own = await createOtherWorkspace(service, 'trace-agreement');
  const evaluator = { rule: 'judge', version: '1' };
  const traceId = newTraceId();
  const subjects = [{ trace_id: traceId }, { trace_id: traceId, span_id: newSpanId() }, { conversation_id: 'c' }];
  for (const [index, subject] of subjects.entries()) {
    await score(own, 'good', true, subject, { source: 'person' });
    await score(own, 'good', index !== 1, subject, { evaluator });
  }
  const { body } = await own.call('GET', '/evaluators/agreement?score=good');
  expect(body.evaluators).toEqual([
    expect.objectContaining({
      n: 3,
      disagreements_total: 1,
      disagreements: [expect.objectContaining({ subject: subjects[1], evaluator: false, people: true })],
    }),
  ]);
});

test('scores go with their trace or conversation, and only their workspace sees them', async () => {
  const own = await createOtherWorkspace(service, 'trace-scores-gone');
  const [kept, gone] = [await run(own), await run(own, { 'gen_ai.conversation.id': 'over' })];
  for (const { traceId, child } of [kept, gone]) {
    await score(own, 'x', 1, { trace_id: traceId });
    await score(own, 'x', 1, { trace_id: traceId, span_id: child });
  }
  await score(own, 'x', 1, { conversation_id: 'over' });
  const left = async () =>
    (await own.call('GET', '/scores?subject=trace')).body.data.length +
    (await own.call('GET', '/scores?subject=conversation')).body.data.length;
  expect((await service.call('GET', `/scores?trace_id=${kept.traceId}`)).body.data).toEqual([]);
  expect(await left()).toBe(5);
  await own.call('DELETE', '/conversations/over');
  expect(await left()).toBe(2);
  await own.call('DELETE', `/traces/${kept.traceId}`);
  expect(await left()).toBe(0);
});

test('scores of traces expire with the retention of traces, even without a trace', async () => {
  const own = await createOtherWorkspace(service, 'trace-scores-old');
  const { traceId } = await run(own);
  await own.call('POST', '/prompts', { body: { name: 'say', template: 'Say it', model: 'sandbox/echo' } });
  const { body: execution } = await own.call('POST', '/executions', { body: { prompt_name: 'say' } });
  const subjects = [{ trace_id: traceId }, { trace_id: newTraceId() }, { conversation_id: 'c' }];
  for (const subject of [...subjects, { execution_id: execution.id }]) await score(own, 'long-ago', 1, subject);
  const { system } = service.dependencies.db;
  await system.query({
    text: `update scores set created_at = now() - interval '31 days' where name = 'long-ago'`,
  });
  await expireTraces(system, 30 * 24 * 60 * 60_000, AbortSignal.timeout(30_000));
  const left = async (query: string) => (await own.call('GET', `/scores?${query}`)).body.data;
  expect([await left('subject=trace'), await left('subject=conversation')]).toEqual([[], []]);
  expect(await left('name=long-ago')).toEqual([expect.objectContaining({ subject: { execution_id: execution.id } })]);
});

test('scores in spans are scores of their step, and never cost a span', async () => {
  const own = await createOtherWorkspace(service, 'reported-scores');
  await own.call('PUT', '/score-definitions/grounded', { body: { data_type: 'boolean' } });
  await own.call('PUT', '/score-definitions/topic', {
    body: { data_type: 'categorical', categories: [{ value: 'billing' }] },
  });
  const one = span({ traceId: newTraceId() });
  const reported = evaluated(
    one,
    { name: 'Answer Relevancy', value: 0.7, label: 'pass', why: 'to the point' },
    { name: 'grounded', value: 1 },
    { name: 'topic', label: 'weather' },
    { name: 'mood', label: 'calm' },
  );
  const answer = await send(own.call, [reported]);
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      partialSuccess: {
        rejectedSpans: '0',
        errorMessage: 'the score "topic" must be one of "billing", as "topic" is defined',
      },
    },
  ]);
  await send(own.call, [reported]);
  const { scores } = (await own.call('GET', `/traces/${one.traceId}/steps/${one.spanId}`)).body;
  expect(scores).toHaveLength(3);
  expect(scores).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'Answer-Relevancy', value: 0.7, comment: 'to the point', source: 'api' }),
      expect.objectContaining({ name: 'grounded', value: true }),
      expect.objectContaining({ name: 'mood', value: 'calm' }),
    ]),
  );
});
