import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { createOtherWorkspace } from '../workspace.ts';
import {
  agent,
  DONE,
  modelCall,
  newSpanId,
  newTraceId,
  type Span,
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

type SpanAttributes = NonNullable<Parameters<typeof span>[0]['attributes']>;

/** An agent that calls a model twice, with a tool in between; the agent also has the sum of the calls. */
function agentRun(
  traceId = newTraceId(),
  { at = Date.now() - 10_000, root: others = {} as SpanAttributes } = {},
): Span[] {
  const root = newSpanId();
  const child = (name: string, offset: number, attributes: SpanAttributes) =>
    span({ traceId, parent: root, name, at: at + offset, ms: 50, attributes });
  return [
    span({
      traceId,
      id: root,
      name: 'invoke_agent travel',
      at,
      ms: 400,
      attributes: agent(105, 18, { ...DONE, ...others }),
    }),
    child('chat gpt-4o-mini', 10, modelCall(52, 9)),
    child('execute_tool get_weather', 100, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
    }),
    child('chat gpt-4o-mini', 200, modelCall(53, 9)),
  ];
}

/** Each test has its own workspace, so that usage comes only from the test. */
let workspaces = 0;
const newWorkspace = async () => {
  workspaces += 1;
  return createOtherWorkspace(service, `traces-${workspaces}`);
};

const inTime = (left: Span, right: Span) => (left.spanId < right.spanId ? -1 : 1);

/** A trace with its steps and usage, without ids. */
async function outcome(call: Call, id: string) {
  const trace = await settled({ call }, id);
  const steps = await stepsOf({ call }, id);
  return {
    trace: { ...trace, id: undefined },
    steps: steps.map(({ execution_id: execution, ...step }) => ({ ...step, isExecution: execution !== null })),
    usage: await usageOf(call),
  };
}

describe('ingest', () => {
  test('stores a run as a tree with its cost, and each call once', async () => {
    const { call } = await newWorkspace();
    const spans = agentRun();
    const [root] = spans;
    const id = root?.traceId ?? '';
    const answer = await send(call, spans);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    const trace = await settled({ call }, id);
    expect(trace).toMatchObject({
      id,
      name: 'invoke_agent travel',
      status: 'ok',
      steps: 4,
      calls: 2,
      errors: 0,
      tokens: { input: 105, output: 18, total: 123 },
      models: ['openai/gpt-4o-mini'],
      tools: ['get_weather'],
      agents: ['travel'],
      service: 'travel-api',
      incomplete: [],
      duration_ms: 400,
    });
    const steps = await stepsOf({ call }, id);
    expect(steps.map(({ type, parent_id }) => [type, parent_id])).toEqual([
      ['agent', null],
      ['model', root?.spanId],
      ['tool', root?.spanId],
      ['model', root?.spanId],
    ]);
    expect(steps[0].own_tokens).toMatchObject({ input: 0, output: 0 });
    const [, first] = steps;
    const { body: execution } = await call('GET', `/executions/${first.execution_id}`);
    expect(execution).toMatchObject({
      recorded: true,
      model: 'openai/gpt-4o-mini',
      output: 'Yes.',
      tokens: { input: 52 },
    });
    const { body: whole } = await call('GET', `/traces/${id}/steps/${first.id}`);
    expect(whole).toMatchObject({ output: 'Yes.', input: [{ role: 'user' }], service: 'travel-api' });
    const usage = await usageOf(call);
    expect(usage).toMatchObject({ executions: 2, completed: 2, input: 105, output: 18 });
    expect(usage.cost).toBeCloseTo(Number(trace.cost.amount), 12);
  });

  test('shuffled, doubled and split, the same spans give the same tree and the same cost', async () => {
    const at = Date.now() - 20_000;
    const ids = {
      trace: newTraceId(),
      root: newSpanId(),
      outer: newSpanId(),
      inner: newSpanId(),
      tool: newSpanId(),
      second: newSpanId(),
    };
    const of = (id: string, parent: string | undefined, offset: number, attributes: SpanAttributes) =>
      span({
        traceId: ids.trace,
        id,
        parent,
        at: at + offset,
        ms: 50,
        name: id === ids.root ? 'run' : 'step',
        attributes,
      });
    // The model step `outer` is a wrapper: its usage is the usage of the call below it.
    const spans = [
      of(ids.root, undefined, 0, agent(120, 30, { ...DONE, 'session.id': 'chat-1', 'user.id': 'ada' })),
      of(ids.outer, ids.root, 10, modelCall(52, 9)),
      of(ids.inner, ids.outer, 20, modelCall(52, 9, { 'gen_ai.prompt.name': 'nowhere' })),
      of(ids.tool, ids.root, 30, { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' }),
      of(ids.second, ids.tool, 40, modelCall(53, 9)),
    ];
    const batches: Span[][][] = [
      [spans],
      [spans.toReversed()],
      spans.map((each) => [each]),
      spans.toReversed().map((each) => [each]),
      [spans.slice(1, 3), [...spans, ...spans], spans.slice(2), spans.toSorted(inTime)],
    ];
    const outcomes = [];
    for (const requests of batches) {
      const { call } = await newWorkspace();
      for (const request of requests) expect((await send(call, request)).status).toBe(200);
      outcomes.push(await outcome(call, ids.trace));
    }
    const [first, ...others] = outcomes;
    // 120/30 on the root: 15/12 more than the steps below it.
    expect(first?.trace).toMatchObject({
      calls: 3,
      tokens: { input: 120, output: 30 },
      conversation_id: 'chat-1',
      user_id: 'ada',
    });
    expect(first?.usage).toMatchObject({ input: 105, output: 18, executions: 2 });
    for (const other of others) expect(other).toEqual(first);
  });

  test('a wrapper that came first is corrected: its call counts once, and its texts stay', async () => {
    const { call } = await newWorkspace();
    const [traceId, outer] = [newTraceId(), newSpanId()];
    await send(call, [span({ traceId, id: outer, attributes: modelCall(52, 9) })]);
    expect(await usageOf(call)).toMatchObject({ executions: 1, input: 52 });
    await send(call, [
      span({ traceId, parent: outer, at: Date.now() - 9_990, ms: 10, attributes: modelCall(52, 9, DONE) }),
    ]);
    expect(await settled({ call }, traceId)).toMatchObject({ calls: 1, steps: 2, tokens: { input: 52 } });
    const usage = await usageOf(call);
    expect(usage).toMatchObject({ executions: 1, completed: 1, input: 52, output: 9 });
    const [wrapper, inner] = await stepsOf({ call }, traceId);
    expect([wrapper.execution_id, inner.execution_id]).toEqual([null, expect.stringMatching(/^exec_/)]);
    const { body: step } = await call('GET', `/traces/${traceId}/steps/${outer}`);
    expect(step).toMatchObject({ output: 'Yes.', input: [{ role: 'user' }] });
    const { body: list } = await call('GET', '/executions');
    expect(list.data).toHaveLength(1);
    // A wrapper that used more than the call below it keeps the rest.
    const another = newTraceId();
    await send(call, [span({ traceId: another, id: outer, attributes: modelCall(60, 9) })]);
    await send(call, [span({ traceId: another, parent: outer, attributes: modelCall(52, 9, DONE) })]);
    expect(await settled({ call }, another)).toMatchObject({ calls: 2, tokens: { input: 60, output: 9 } });
    expect(await usageOf(call)).toMatchObject({ executions: 3, input: 52 + 60, output: 18 });
  });

  test('a wrapper whose execution was taken back is not recorded again when its span is repeated', async () => {
    const { call } = await newWorkspace();
    const [traceId, outer, chain] = [newTraceId(), newSpanId(), newSpanId()];
    const wrapper = span({ traceId, id: outer, attributes: modelCall(52, 9) });
    await send(call, [wrapper]);
    await send(call, [
      span({ traceId, id: chain, parent: outer, attributes: { 'gen_ai.operation.name': 'agent_step' } }),
      span({ traceId, parent: chain, attributes: modelCall(52, 9, DONE) }),
    ]);
    expect(await settled({ call }, traceId)).toMatchObject({ calls: 1, tokens: { input: 52 } });
    await send(call, [wrapper]);
    expect(await settled({ call }, traceId)).toMatchObject({ calls: 1, tokens: { input: 52 } });
    expect(await usageOf(call)).toMatchObject({ executions: 1, input: 52, output: 9 });
    expect((await call('GET', '/executions')).body.data).toHaveLength(1);
  });

  test('a running step is replaced by its end, and an ended one stays unchanged', async () => {
    const { call } = await newWorkspace();
    const [traceId, id] = [newTraceId(), newSpanId()];
    await send(call, [span({ traceId, id, name: 'begun', ms: null, attributes: modelCall(1, 1) })]);
    const { body: running } = await call('GET', `/traces/${traceId}`);
    expect(running).toMatchObject({ status: 'running', calls: 0, settled: false, ended_at: null });
    await send(call, [span({ traceId, id, name: 'ended', attributes: modelCall(52, 9) })]);
    await send(call, [span({ traceId, id, name: 'changed', attributes: modelCall(1_000, 9) })]);
    const { body: ended } = await call('GET', `/traces/${traceId}`);
    expect(ended).toMatchObject({ name: 'ended', status: 'ok', steps: 1, calls: 1, tokens: { input: 52 } });
    expect(await usageOf(call)).toMatchObject({ executions: 1, input: 52 });
  });

  test('a trace without its root has the name of its first step until the root comes', async () => {
    const { call } = await newWorkspace();
    const [traceId, root, parent] = [newTraceId(), newSpanId(), newSpanId()];
    const at = Date.now() - 60_000;
    await send(call, [
      span({ traceId, parent, name: 'late orphan', at: at + 20 }),
      span({ traceId, parent, name: 'first orphan', at: at + 10, error: 'It failed' }),
    ]);
    const { body: orphans } = await call('GET', `/traces/${traceId}`);
    expect(orphans).toMatchObject({ name: 'first orphan', incomplete: ['root_missing'], status: 'error', errors: 1 });
    expect((await stepsOf({ call }, traceId)).map(({ name }) => name)).toEqual(['first orphan', 'late orphan']);
    await send(call, [
      span({ traceId, id: root, name: 'root', at, ms: 1_000 }),
      span({ traceId, id: parent, parent: root, name: 'parent', at }),
    ]);
    const { body: whole } = await call('GET', `/traces/${traceId}`);
    expect(whole).toMatchObject({ name: 'root', incomplete: [], status: 'ok', errors: 1, duration_ms: 1_000 });
    expect((await stepsOf({ call }, traceId, 1)).map(({ name }) => name)).toEqual([
      'root',
      'parent',
      'first orphan',
      'late orphan',
    ]);
  });

  test('steps that are their own ancestors are shown and counted', async () => {
    const { call } = await newWorkspace();
    const [traceId, a, b] = [newTraceId(), newSpanId(), newSpanId()];
    await send(call, [
      span({ traceId, id: a, parent: b, attributes: modelCall(52, 9) }),
      span({ traceId, id: b, parent: a, attributes: modelCall(52, 9, DONE) }),
    ]);
    expect(await settled({ call }, traceId)).toMatchObject({ steps: 2 });
    expect(await stepsOf({ call }, traceId)).toHaveLength(2);
  });

  test('a step names a prompt and its version; unknown ones stay in the metadata', async () => {
    const { call } = await newWorkspace();
    await call('POST', '/prompts', { body: { name: 'greeting', template: 'Hi', model: 'sandbox/echo' } });
    const traceId = newTraceId();
    const known = { 'gen_ai.prompt.name': 'greeting', 'gen_ai.prompt.version': '1' };
    const unknown = { 'gen_ai.prompt.name': 'greeting', 'gen_ai.prompt.version': '7' };
    await send(call, [
      span({ traceId, attributes: modelCall(1, 1, known) }),
      span({ traceId, attributes: modelCall(2, 1, unknown) }),
      span({ traceId, attributes: modelCall(3, 1, { 'gen_ai.prompt.name': 'gone' }) }),
    ]);
    const { body } = await call('GET', '/executions');
    const byTokens = body.data.toSorted((a: Tokens, b: Tokens) => a.tokens.input - b.tokens.input);
    expect(byTokens).toMatchObject([
      { prompt_name: 'greeting', prompt_version: 1 },
      { prompt_name: 'greeting', prompt_version: null, metadata: { prompt_version: '7' } },
      { prompt_name: null, metadata: { prompt_name: 'gone' } },
    ]);
    const { body: traces } = await call('GET', '/traces?prompt_name=greeting');
    expect(traces.data).toMatchObject([{ id: traceId }]);
  });
  type Tokens = { tokens: { input: number } };

  test('a service run that a span names is not recorded again', async () => {
    const { call } = await newWorkspace();
    await call('POST', '/prompts', { body: { name: 'echo', template: 'Hi', model: 'sandbox/echo' } });
    const { body: execution } = await call('POST', '/executions', { body: { prompt_name: 'echo' } });
    const traceId = newTraceId();
    await send(call, [span({ traceId, attributes: modelCall(52, 9, { ...DONE, 'pms.execution.id': execution.id }) })]);
    expect(await settled({ call }, traceId)).toMatchObject({ calls: 1, tokens: execution.tokens });
    expect((await call('GET', '/executions')).body.data).toHaveLength(1);
  });
});

describe('reading', () => {
  test('finds traces by their fields, page by page, newest first', async () => {
    const { call } = await newWorkspace();
    const at = Date.now() - 600_000;
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const traceId = newTraceId();
      ids.unshift(traceId);
      const attributes = {
        'user.id': `user-${index % 2}`,
        'session.id': 'chat-1',
        'langfuse.trace.metadata.plan': `p${index}`,
        'langfuse.trace.tags': [`t${index}`],
      };
      await send(call, agentRun(traceId, { at: at + index * 1_000, root: attributes }));
    }
    const find = async (query: string) => (await call('GET', `/traces?${query}`)).body;
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    const first = await find('limit=2');
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    const second = await find(`limit=2&cursor=${first.next_cursor}`);
    const third = await find(`limit=2&cursor=${second.next_cursor}`);
    expect([...idsOf(second), ...idsOf(third), third.next_cursor]).toEqual([...ids.slice(2), null]);
    for (const query of [
      'user_id=user-1',
      'user_id=user-1&tool=get_weather&agent=travel&model=openai/gpt-4o-mini&min_steps=4',
      'user_id=user-1&service=travel-api&status=ok&min_cost=0.00001&max_latency_ms=400&min_latency_ms=400',
    ])
      expect([query, idsOf(await find(query))]).toEqual([query, [ids[1], ids[3]]]);
    expect(idsOf(await find('metadata=plan%3Dp3'))).toEqual([ids[1]]);
    expect(idsOf(await find('tag=t4'))).toEqual([ids[0]]);
    expect(idsOf(await find('q=INVOKE_agent'))).toHaveLength(5);
    for (const nothing of ['min_steps=5', 'status=error', 'name=none', 'q=nowhere', 'min_cost=1', 'environment=x'])
      expect([nothing, idsOf(await find(nothing))]).toEqual([nothing, []]);
    expect((await call('GET', '/traces?order=up')).status).toBe(400);
    expect((await call('GET', '/traces?cursor=abc')).status).toBe(400);
  });

  test('lists conversations with their sums, and the turns of one', async () => {
    const { call } = await newWorkspace();
    const at = Date.now() - 600_000;
    const turns = [newTraceId(), newTraceId(), newTraceId()];
    for (const [index, traceId] of turns.entries())
      await send(
        call,
        agentRun(traceId, {
          at: at + index * 1_000,
          root: { 'session.id': index === 1 ? 'b/2' : 'a', 'user.id': 'ada' },
        }),
      );
    for (const id of turns) await settled({ call }, id);
    const { body: list } = await call('GET', '/conversations');
    expect(list.data).toMatchObject([
      { id: 'a', traces: 2, calls: 4, user_id: 'ada', tokens: { input: 210 } },
      { id: 'b/2', traces: 1, calls: 2 },
    ]);
    const { body: one } = await call('GET', '/conversations/a?limit=1');
    expect(one).toMatchObject({ traces: 2, data: [{ id: turns[0] }] });
    const { body: rest } = await call('GET', `/conversations/a?limit=1&cursor=${one.next_cursor}`);
    expect(rest).toMatchObject({ data: [{ id: turns[2] }], next_cursor: null });
    expect((await call('GET', '/conversations/b%2F2')).body).toMatchObject({ id: 'b/2', traces: 1 });
    expect((await call('GET', '/conversations/none')).status).toBe(404);
    const { body: deleted } = await call('DELETE', '/conversations/a');
    expect(deleted).toEqual({ id: 'a', traces: 2 });
    expect((await call('GET', '/traces')).body.data).toMatchObject([{ id: turns[1] }]);
    expect((await call('GET', '/executions')).body.data).toHaveLength(2);
    expect((await call('DELETE', '/conversations/a')).status).toBe(404);
  });

  test('sorts by fields without an index, page by page, and counts all', async () => {
    const { call } = await newWorkspace();
    const at = Date.now() - 600_000;
    const ids: string[] = [];
    for (const [index, calls] of [2, 1, 3, 1].entries()) {
      const [traceId, root] = [newTraceId(), newSpanId()];
      ids.push(traceId);
      const others = { 'user.id': `user-${index % 2}`, 'tag.tags': ['a', `t${index}`] };
      const below = Array.from({ length: calls }, () =>
        span({ traceId, parent: root, at: at + index * 1_000, attributes: modelCall(50, 1) }),
      );
      const fault = index === 2 ? { error: 'It failed' } : {};
      const top = { traceId, id: root, at: at + index * 1_000, name: `run ${index}`, ms: 100 * calls };
      await send(call, [span({ ...top, ...fault, attributes: { ...agent(0, 0), ...DONE, ...others } }), ...below]);
    }
    const [two, one, three, last] = ids;
    for (const id of ids) await settled({ call }, id);
    for (const sort of ['steps', 'cost', 'tokens', 'latency']) {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await call('GET', `/traces?sort=-${sort}&limit=1${cursor}`);
        found.push(...body.data.map(({ id }: { id: string }) => id));
        if (body.next_cursor === null) break;
        cursor = `&cursor=${body.next_cursor}`;
      }
      expect([sort, found]).toEqual([sort, [three, two, last, one]]);
    }
    const { body: rising } = await call('GET', '/traces?sort=steps&user_id=user-1&limit=1');
    expect(rising.data).toMatchObject([{ id: last }]);
    expect((await call('GET', `/traces?sort=-steps&cursor=${rising.next_cursor}`)).status).toBe(400);
    expect((await call('GET', `/traces?sort=steps&cursor=e30`)).status).toBe(400);
    expect((await call('GET', '/traces?min_errors=1&settled=true')).body.data).toMatchObject([{ id: three }]);
    expect((await call('GET', '/traces?settled=false')).body.data).toEqual([]);
    expect((await call('GET', '/traces?prompt_version=1')).status).toBe(400);
    const { body: counts } = await call('GET', '/traces/facets?min_steps=2');
    expect(counts).toMatchObject({ counted: 4, complete: true });
    expect(counts.facets).toMatchObject({
      status: [
        { value: 'ok', count: 3 },
        { value: 'error', count: 1 },
      ],
      user_id: [
        { value: 'user-0', count: 2 },
        { value: 'user-1', count: 2 },
      ],
      tag: [{ value: 'a', count: 4 }, { value: 't0' }, { value: 't1' }, { value: 't2' }, { value: 't3' }],
      agent: [{ value: 'travel', count: 4 }],
      model: [{ value: 'openai/gpt-4o-mini', count: 4 }],
      environment: [],
    });
  });

  test('a user is deleted with all traces, once, however many requests arrive', async () => {
    const { call } = await newWorkspace();
    for (let index = 0; index < 12; index += 1)
      await send(
        call,
        agentRun(newTraceId(), { root: { 'user.id': index === 0 ? 'bob' : 'ada', 'session.id': 'chat' } }),
      );
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('DELETE', '/traces?user_id=ada')));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 404),
    ]);
    expect(answers.find(({ status }) => status === 200)?.body).toEqual({ user_id: 'ada', traces: 11 });
    expect((await call('GET', '/traces')).body.data).toMatchObject([{ user_id: 'bob' }]);
    expect((await call('GET', '/executions')).body.data).toHaveLength(2);
    const { body: log } = await call('GET', '/audit-log?action=trace_user.deleted');
    expect(log.data).toMatchObject([{ resource: { type: 'trace_user', id: 'ada' } }]);
    expect((await call('DELETE', '/traces')).status).toBe(400);
    for (let index = 0; index < 12; index += 1)
      await send(call, agentRun(newTraceId(), { root: { 'session.id': 'long' } }));
    const ended = await Promise.all(Array.from({ length: 8 }, () => call('DELETE', '/conversations/long')));
    expect(ended.filter(({ status }) => status === 200).map(({ body }) => body.traces)).toEqual([12]);
    const { body: conversations } = await call('GET', '/audit-log?action=conversation.deleted');
    expect(conversations.data).toHaveLength(1);
  });

  test('a user with more traces than one statement deletes is deleted as a whole', async () => {
    const { call } = await newWorkspace();
    const spans = (count: number, user: string) =>
      Array.from({ length: count }, () => span({ traceId: newTraceId(), attributes: { 'user.id': user } }));
    await send(call, [...spans(1_200, 'ada'), ...spans(1, 'bob')]);
    const [one, other] = await Promise.all([1, 2].map(() => call('DELETE', '/traces?user_id=ada')));
    expect([one?.status, other?.status].toSorted((a = 0, b = 0) => a - b)).toEqual([200, 404]);
    expect((one?.status === 200 ? one : other)?.body).toEqual({ user_id: 'ada', traces: 1_200 });
    expect((await call('GET', '/traces')).body.data).toMatchObject([{ user_id: 'bob' }]);
    expect((await call('GET', '/audit-log?action=trace_user.deleted')).body.data).toHaveLength(1);
  });

  test('a deleted trace deletes its steps and executions; its usage stays', async () => {
    const { call } = await newWorkspace();
    const spans = agentRun();
    const id = spans[0]?.traceId ?? '';
    await send(call, spans);
    await settled({ call }, id);
    const before = await usageOf(call);
    expect((await call('DELETE', `/traces/${id}`)).body).toMatchObject({ id, steps: 4 });
    for (const path of [`/traces/${id}`, `/traces/${id}/steps`, `/traces/${id}/steps/${spans[0]?.spanId}`])
      expect([path, (await call('GET', path)).status]).toEqual([path, 404]);
    expect((await call('GET', '/executions')).body.data).toEqual([]);
    expect(await usageOf(call)).toEqual(before);
    const { body: log } = await call('GET', '/audit-log?action=trace.deleted');
    expect(log.data).toMatchObject([{ action: 'trace.deleted', resource: { type: 'trace', id } }]);
  });

  test('traces belong to one workspace, even if another one has the same ids', async () => {
    const [one, other] = [await newWorkspace(), await newWorkspace()];
    const spans = agentRun();
    const id = spans[0]?.traceId ?? '';
    await send(one.call, spans);
    for (const path of [`/traces/${id}`, `/traces/${id}/steps`, `/traces/${id}/steps/${spans[1]?.spanId}`])
      expect([path, (await other.call('GET', path)).status]).toEqual([path, 404]);
    expect((await other.call('DELETE', `/traces/${id}`)).status).toBe(404);
    expect((await other.call('GET', '/traces')).body.data).toEqual([]);
    await send(other.call, spans.slice(0, 2));
    expect(await settled(other, id)).toMatchObject({ steps: 2 });
    expect(await settled(one, id)).toMatchObject({ steps: 4, calls: 2 });
    expect((await other.call('DELETE', `/traces/${id}`)).status).toBe(200);
    expect(await stepsOf(one, id)).toHaveLength(4);
    expect(await usageOf(one.call)).toMatchObject({ executions: 2, input: 105 });
  });

  test('stored traces count in the bytes of a workspace until they are deleted', async () => {
    const { call } = await newWorkspace();
    const { db } = service.dependencies;
    const [workspace] = await db.system.query((all) =>
      all.selectFrom('workspaces').select('id').where('name', '=', `traces-${workspaces}`).orderBy('id', 'desc'),
    );
    const id = workspace?.id ?? '';
    const bytes = async () => {
      const rows = await db.system.query((all) =>
        all
          .selectFrom('storage_entries')
          .select('bytes')
          .where('workspace_id', '=', id)
          .unionAll(all.selectFrom('storage_sums').select('bytes').where('workspace_id', '=', id)),
      );
      return rows.reduce((sum, row) => sum + Number(row.bytes), 0);
    };
    const text = 'x'.repeat(100_000);
    const traceId = newTraceId();
    const before = await bytes();
    await send(call, [span({ traceId, attributes: { 'input.value': text } })]);
    const stored = await bytes();
    expect(stored - before).toBeGreaterThan(100_000);
    await call('DELETE', `/traces/${traceId}`);
    await until('the bytes are given back', async () => (await bytes()) <= before + 5_000);
  });
});
