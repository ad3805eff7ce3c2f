import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { agent, modelCall, newSpanId, newTraceId, send, span } from './traces-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const ROOT_INPUT = [{ role: 'user', content: 'Do I need an umbrella?' }];

/** An agent with one model call and one tool call. */
async function run({ call }: Pick<TestService, 'call'>) {
  const [traceId, root, model, tool] = [newTraceId(), newSpanId(), newSpanId(), newSpanId()];
  const said = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
  const spans = [
    span({
      traceId,
      id: root,
      name: 'invoke_agent travel',
      attributes: agent(5, 2, {
        'gen_ai.conversation.id': 'chat-1',
        'gen_ai.input.messages': said('user', 'Do I need an umbrella?'),
        'gen_ai.output.messages': said('assistant', 'Take one.'),
      }),
    }),
    span({ traceId, id: model, parent: root, attributes: modelCall(5, 2) }),
    span({
      traceId,
      id: tool,
      parent: root,
      name: 'execute_tool weather',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'weather',
        'gen_ai.tool.call.arguments': '{"city":"Basel"}',
        'gen_ai.tool.call.result': 'rain',
      },
    }),
  ];
  expect((await send(call, spans)).status).toBe(200);
  return { traceId, root, model, tool };
}

const add = ({ call }: Pick<TestService, 'call'>, name: string, traces: object[], others: object = {}) =>
  call('POST', `/datasets/${name}/from-traces`, { body: { traces, ...others } });
const examplesOf = async ({ call }: Pick<TestService, 'call'>, name: string) =>
  (await call('GET', `/datasets/${name}/examples`)).body.data;

test('a trace and its steps become examples that say where they come from', async () => {
  const { traceId, model, tool } = await run(service);
  const sources = [
    { trace_id: traceId },
    { trace_id: traceId, span_id: model },
    { trace_id: traceId.toUpperCase(), span_id: tool },
  ];
  const first = await add(service, 'kept', [...sources, ...sources]);
  expect([first.status, first.body.version, first.body.added]).toEqual([201, 1, 3]);
  const { execution_id: execution } = (await service.call('GET', `/traces/${traceId}/steps/${model}`)).body;
  const about = { trace_id: traceId, conversation_id: 'chat-1', created_at: expect.any(String) };
  expect(await examplesOf(service, 'kept')).toMatchObject([
    {
      id: traceId,
      variables: { input: ROOT_INPUT },
      expected: 'Take one.',
      metadata: { ...about, name: 'invoke_agent travel' },
    },
    {
      id: `${traceId}:${model}`,
      variables: { input: ROOT_INPUT },
      expected: 'Yes.',
      metadata: { ...about, span_id: model, execution_id: execution, model: 'openai/gpt-4o-mini' },
    },
    {
      id: `${traceId}:${tool}`,
      variables: { input: '{"city":"Basel"}' },
      expected: 'rain',
      metadata: { ...about, span_id: tool, name: 'execute_tool weather' },
    },
  ]);
  const again = await add(service, 'kept', sources);
  expect(again.body).toMatchObject({ version: 1, added: 0, replaced: 0, unchanged: 3 });
  const bare = await add(service, 'kept', sources.slice(0, 1), { expected: 'none' });
  expect(bare.body).toMatchObject({ version: 2, added: 0, replaced: 1 });
  expect((await examplesOf(service, 'kept'))[0]).not.toHaveProperty('expected');
});

test('a step that ran a prompt here has the variables of that run', async () => {
  await service.call('POST', '/prompts', {
    body: { name: 'greet', template: 'Hello {{ name }}', model: 'sandbox/echo' },
  });
  const body = { prompt_name: 'greet', variables: { name: 'Ada' } };
  const { id } = (await service.call('POST', '/executions', { body })).body;
  const step = span({ traceId: newTraceId(), attributes: { ...modelCall(1, 1), 'pms.execution.id': id } });
  await send(service.call, [step]);
  await add(service, 'of-a-run', [{ trace_id: step.traceId, span_id: step.spanId }]);
  expect(await examplesOf(service, 'of-a-run')).toMatchObject([
    { variables: { name: 'Ada' }, metadata: { execution_id: id, prompt_name: 'greet', prompt_version: 1 } },
  ]);
});

test('concurrent additions are all kept', async () => {
  const runs = await Promise.all(Array.from({ length: 8 }, () => run(service)));
  const added = await Promise.all(runs.map(({ traceId }) => add(service, 'crowded', [{ trace_id: traceId }])));
  expect(added.map(({ status }) => status)).toEqual(runs.map(() => 201));
  const ids = (await examplesOf(service, 'crowded')).map(({ id }: { id: string }) => id);
  expect(ids.toSorted()).toEqual(runs.map(({ traceId }) => traceId).toSorted());
});

test('a trace of another workspace, and a non-trace, is named', async () => {
  const { traceId } = await run(service);
  const other = await createOtherWorkspace(service, 'trace-datasets');
  const refused = await add(other, 'stolen', [{ trace_id: traceId }]);
  expect([refused.status, refused.body.error.message]).toEqual([400, 'traces.0: is not a trace of this workspace']);
  const noStep = await add(service, 'none', [{ trace_id: traceId }, { trace_id: traceId, span_id: newSpanId() }]);
  expect([noStep.status, noStep.body.error.message]).toEqual([400, 'traces.1: is not a step of a trace']);
  expect((await other.call('GET', '/datasets/stolen')).status).toBe(404);
  for (const traces of [[], [{ trace_id: 'x' }], [{}], Array.from({ length: 101 }, () => ({ trace_id: traceId }))])
    expect((await add(service, 'none', traces)).status).toBe(400);
  expect((await service.call('GET', '/datasets/none')).status).toBe(404);
});
