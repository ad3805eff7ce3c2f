import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { modelCall, newSpanId, newTraceId, send, span } from '../traces/traces-support.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { ENDED, type EvaluationStage, startStage } from './evaluations-support.ts';

const USAGE = { input: 1_000, output: 1_000 };
const CALL_USD = 0.00075;
const MODEL = 'openai/gpt-4o-mini';
const SHORT = [{ type: 'regex', name: 'short', pattern: '^new' }];
const JUDGE = { type: 'llm_judge', name: 'judge', model: MODEL, rubric: 'Is it kind?' };

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({
    answer: ({ prompt }) => {
      if (prompt.startsWith('You grade')) return { text: JSON.stringify({ reason: 'fine', score: 5 }), usage: USAGE };
      return { text: `new: ${prompt}`, usage: USAGE };
    },
  });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const { stringify } = JSON;
const call = (method: string, path: string, body?: object) =>
  stage.service.call(method, path, body === undefined ? {} : { body });

async function must(method: string, path: string, body: object) {
  const answer = await call(method, path, body);
  if (answer.status >= 300) throw new Error(stringify(answer.body));
  return answer.body;
}

/** A prompt with two versions: only the second one is formal. */
async function chatPrompt(name: string) {
  const of = (style: string) => [
    { role: 'system', content: `You are ${style} for {{ company }}.` },
    { role: 'user', content: 'Hello, this is {{ who }}.' },
  ];
  await must('POST', '/prompts', { name, messages: of('brief'), model: MODEL });
  await must('PUT', `/prompts/${name}`, { messages: of('formal'), model: MODEL });
}

const run = async (body: object) => (await must('POST', '/executions', body)).id as string;
const record = async (...records: object[]): Promise<string[]> => {
  const times = { started_at: new Date(Date.now() - 5_000), finished_at: new Date(Date.now() - 4_000) };
  return (
    await must('POST', '/executions/record', { records: records.map((one) => ({ ...times, model: MODEL, ...one })) })
  ).ids;
};
const ask = (prompt: string, executions: object, more: object = {}) =>
  call('POST', '/evaluations', { prompt_name: prompt, executions, evaluators: SHORT, ...more });

/** The run and its baseline, once they have ended. */
async function finished(prompt: string, executions: object, more: object = {}) {
  const { status, body } = await ask(prompt, executions, more);
  if (status !== 201) throw new Error(stringify(body));
  const after = await stage.until(body.id, ...ENDED, 'paused');
  const before = await stage.read(body.baseline_id);
  return { after, before };
}

/** The messages that the model got for calls about this text. */
const sentAbout = (text: string) =>
  stage.openai.calls.map(({ body }) => body['messages']).filter((messages) => stringify(messages).includes(text));

describe('another version over executions', () => {
  test('is filled with their variables, followed by what the caller added, and compared with what they said', async () => {
    await chatPrompt('replay/chat');
    const variables = { company: 'Acme', who: 'Ada Replay' };
    const more = [
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: 'Where is my order?' },
    ];
    const bare = await run({ prompt_name: 'replay/chat', version: 1, variables });
    const longer = await run({ prompt_name: 'replay/chat', version: 1, variables, messages: more });
    const before = stage.openai.callCount;
    const { after, before: baseline } = await finished('replay/chat', {}, { version: 2 });
    expect(stage.openai.callCount - before).toBe(2);
    expect(after).toMatchObject({
      status: 'completed',
      prompt_version: 2,
      dataset: null,
      examples_total: 2,
      examples_failed: 0,
      source_evaluation_id: null,
      from_executions: { matched: 2, left_out: [], recorded: false },
    });
    expect(baseline).toMatchObject({
      status: 'completed',
      prompt_name: 'replay/chat',
      prompt_version: 0,
      model: MODEL,
      baseline_id: null,
      source_evaluation_id: null,
      cost: { amount: '0' },
      examples_total: 2,
      examples_failed: 0,
      from_executions: { matched: 2, recorded: true },
    });
    const formal = [
      { role: 'system', content: 'You are formal for Acme.' },
      { role: 'user', content: 'Hello, this is Ada Replay.' },
    ];
    expect(sentAbout('formal for Acme').toSorted((a, b) => stringify(a).length - stringify(b).length)).toEqual([
      formal,
      [...formal, ...more],
    ]);
    const results = await stage.results(after.id);
    expect(results.map(({ example_id }: { example_id: string }) => example_id)).toEqual([bare, longer]);
    expect(results[0].variables).toMatchObject(variables);
    expect(await stage.results(baseline.id)).toMatchObject([
      { example_id: bare, reused_from: bare, output: 'new: Hello, this is Ada Replay.', cost: { amount: '0' } },
      { example_id: longer, reused_from: longer, output: 'new: Where is my order?', model: MODEL },
    ]);
    const comparison = (await call('GET', `/evaluations/${after.id}/compare/${baseline.id}`)).body;
    expect(comparison).toMatchObject({ examples_compared: 2, comparable: true, unchanged: 2, only_in_a: { total: 0 } });
    expect((await call('GET', `/evaluations/${baseline.id}/results/0/input`)).body.input[0].content).toBe(
      'You are brief for Acme.',
    );
  });

  test('puts its leading system messages before calls recorded from traces, with their tool calls and results', async () => {
    await must('POST', '/prompts', {
      name: 'replay/agent',
      model: MODEL,
      messages: [{ role: 'system', content: 'You are the second version.' }, { placeholder: 'task' }],
      tools: [{ name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }],
    });
    const traceId = newTraceId();
    const text = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });
    const messages = [
      text('system', 'You are the first version.'),
      text('user', 'Do I need an umbrella in Basel?'),
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Basel' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'rain' }] },
    ];
    const { 'gen_ai.input.messages': _input, ...silent } = modelCall(5, 2);
    const { 'gen_ai.output.messages': _output, ...unanswered } = modelCall(5, 2);
    const steps = [
      span({ traceId, attributes: modelCall(5, 2, { 'gen_ai.input.messages': stringify(messages) }) }),
      span({ traceId, attributes: silent }),
      span({ traceId, attributes: unanswered }),
      span({
        traceId,
        id: newSpanId(),
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'weather' },
      }),
    ];
    expect((await send(stage.service.call, steps)).status).toBe(200);
    const { after, before } = await finished('replay/agent', { trace_id: traceId });
    expect(after).toMatchObject({
      status: 'completed',
      examples_total: 1,
      from_executions: {
        matched: 3,
        left_out: [
          { reason: 'no_input', count: 1, message: 'its input is not stored', execution_ids: [expect.any(String)] },
          { reason: 'no_output', count: 1 },
        ],
      },
      regressions: 0,
      improvements: 1,
    });
    const [sent] = sentAbout('You are the second version.') as {
      role: string;
      content: string;
      tool_calls?: object[];
    }[][];
    expect(sent?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(sent?.[0]?.content).toBe('You are the second version.');
    expect(stringify(sent?.[2]?.tool_calls)).toContain('Basel');
    expect(await stage.results(before.id)).toMatchObject([{ output: 'Yes.', score: 0 }]);
  });

  test('runs on when the executions are deleted in between', async () => {
    await chatPrompt('replay/deleted');
    const [id] = await record({
      prompt_name: 'replay/deleted',
      prompt_version: 1,
      variables: { company: 'Acme', who: 'Del' },
      input: [
        { role: 'system', content: 'You are brief for Acme.' },
        { role: 'user', content: 'Hello, this is Del.' },
      ],
      output: 'Hi Del',
    });
    stage.openai.behave({ mode: 'hold', matching: 'this is Del' });
    const { body, status } = await ask('replay/deleted', { execution_ids: [id] }, { version: 2 });
    expect({ status, body }).toMatchObject({ status: 201 });
    expect((await call('DELETE', `/executions/${id}`)).status).toBe(200);
    stage.openai.behave();
    expect(await stage.until(body.id, ...ENDED)).toMatchObject({
      status: 'completed',
      examples_failed: 0,
      improvements: 1,
    });
    expect(sentAbout('this is Del')[0]).toEqual([
      { role: 'system', content: 'You are formal for Acme.' },
      { role: 'user', content: 'Hello, this is Del.' },
    ]);
    expect((await ask('replay/deleted', { execution_ids: [id] })).body.error.message).toContain(`among them ${id}`);
  });

  test('a recorded run that its version did not write keeps its own messages', async () => {
    await chatPrompt('replay/other');
    await record({
      prompt_name: 'replay/other',
      prompt_version: 1,
      variables: { company: 'Acme' },
      input: [
        { role: 'system', content: 'Something that the application wrote.' },
        { role: 'user', content: 'What is it to Otho?' },
      ],
      output: 'Nothing',
    });
    const { after } = await finished('replay/other', {}, { version: 2 });
    expect(after).toMatchObject({ status: 'completed', examples_failed: 0 });
    expect(sentAbout('Otho')).toEqual([
      [
        { role: 'system', content: 'You are formal for Acme.' },
        { role: 'user', content: 'What is it to Otho?' },
      ],
    ]);
  });

  test('says which executions do not fit, and why', async () => {
    await chatPrompt('replay/unfit');
    const input = 'Hello';
    await record(
      { prompt_name: 'replay/unfit', input, output: 'x' },
      { prompt_name: 'replay/unfit', input, output: 'x', variables: { company: 'Acme' } },
    );
    const { after } = await finished('replay/unfit', {}, { version: 2 });
    expect(after.from_executions).toMatchObject({
      matched: 2,
      left_out: [
        { reason: 'does_not_fit', count: 1, message: expect.stringContaining('variables.company: is missing') },
      ],
    });
    await must('POST', '/prompts', { name: 'replay/template', template: 'Say {{ it }}', model: MODEL });
    const refused = await ask('replay/template', { prompt_name: 'replay/unfit' });
    expect(refused).toMatchObject({ status: 400, body: { error: { details: [{ path: 'executions' }] } } });
    expect(refused.body.error.message).toContain('none of the 2 that match can be used: 2: its version is unknown');
  });
});

describe('the budget', () => {
  async function recordedPrompt(name: string, count: number) {
    await must('POST', '/prompts', { name, messages: [{ role: 'system', content: `Be ${name}` }], model: MODEL });
    await record(
      ...Array.from({ length: count }, (_, at) => ({ prompt_name: name, input: `${name} ${at}`, output: 'old' })),
    );
  }

  test('is for the judges of both runs and the model together', async () => {
    await recordedPrompt('replay/budget', 4);
    const { after, before } = await finished('replay/budget', {}, { evaluators: [JUDGE], max_cost: 1, concurrency: 1 });
    expect(Number(before.cost.amount)).toBeCloseTo(4 * CALL_USD, 9);
    expect(Number(after.cost.amount)).toBeCloseTo(8 * CALL_USD, 9);
    expect(Number(after.max_cost)).toBeCloseTo(1 - 4 * CALL_USD, 9);
    const small = await finished('replay/budget', {}, { evaluators: [JUDGE], max_cost: 6 * CALL_USD, concurrency: 1 });
    expect(small.before.status).toBe('completed');
    expect(small.after.status).toBe('paused');
    expect(Number(small.after.cost.amount) + Number(small.before.cost.amount)).toBeLessThanOrEqual(6 * CALL_USD + 1e-9);
    await stage.control(small.after.id, 'cancel');
  });

  test('stops the recorded outputs first, and the run continues when they do', async () => {
    await recordedPrompt('replay/paused', 4);
    const { body } = await ask('replay/paused', {}, { evaluators: [JUDGE], max_cost: 2 * CALL_USD, concurrency: 1 });
    expect(body).toMatchObject({ status: 'scheduled' });
    const paused = await stage.until(body.baseline_id, 'paused');
    expect(Number(paused.cost.amount)).toBeLessThanOrEqual(2 * CALL_USD + 1e-9);
    expect(await stage.read(body.id)).toMatchObject({ status: 'scheduled' });
    await stage.control(body.id, 'resume', { max_cost: 1 });
    await stage.control(body.baseline_id, 'resume', { max_cost: 1 });
    expect(await stage.until(body.id, ...ENDED)).toMatchObject({ status: 'completed', examples_failed: 0 });
  });

  test('an estimate counts the judges of both', async () => {
    await recordedPrompt('replay/estimate', 3);
    const estimate = await must('POST', '/evaluations/estimate', {
      prompt_name: 'replay/estimate',
      executions: {},
      evaluators: [JUDGE],
    });
    expect(estimate).toMatchObject({ examples: 3, model_calls: 3, judge_calls: 6 });
  });
});

describe('a baseline', () => {
  test('can be none, or the run of another version over the same executions', async () => {
    await chatPrompt('replay/both');
    await run({ prompt_name: 'replay/both', version: 1, variables: { company: 'Acme', who: 'Vera' } });
    const alone = await stage.run({
      prompt_name: 'replay/both',
      executions: {},
      evaluators: SHORT,
      baseline: null,
    });
    expect(alone).toMatchObject({ status: 'completed', baseline_id: null });
    const { body } = await ask('replay/both', {}, { version: 1, baseline: alone.id });
    expect(body.baseline_id).toBe(alone.id);
    expect(await stage.until(body.id, ...ENDED)).toMatchObject({ regressions: 0, improvements: 0 });
  });
});

describe('refused', () => {
  test.each([
    [{ executions: {}, dataset: 'x' }, 'dataset', 'give exactly one of dataset, examples and executions'],
    [{ executions: { limit: 1_001 } }, 'executions.limit', 'from 1 to 1000'],
    [{ executions: { execution_ids: ['exec_1'] } }, 'executions.execution_ids.0', 'is not the id of an execution'],
    [{ executions: { model: 'openai/none' } }, 'executions', 'no execution with the status "completed" matches'],
    [{ executions: { min_cost: '2', max_cost: '1' } }, 'executions.max_cost', 'must not be less than min_cost'],
    [{ executions: { trace_id: 'x' } }, 'executions.trace_id', 'must be'],
  ])('%j', async (body, path, message) => {
    const answer = await call('POST', '/evaluations', { prompt_name: 'say', evaluators: SHORT, ...body });
    expect(answer).toMatchObject({ status: 400, body: { error: { details: [{ path }] } } });
    expect(answer.body.error.message).toContain(message);
  });

  test('executions of another workspace, and keys that cannot read', async () => {
    const [id] = await record({ input: 'secret', output: 'x' });
    const other = await createOtherWorkspace(stage.service, 'replay');
    await other.call('POST', '/prompts', { body: { name: 'say', template: 'x', model: MODEL } });
    const body = { prompt_name: 'say', evaluators: SHORT };
    for (const executions of [{ execution_ids: [id] }, { prompt_name: null }])
      expect((await other.call('POST', '/evaluations', { body: { ...body, executions } })).status).toBe(400);
    const { key } = await createKey(stage.service, 'execute');
    const answer = await stage.service.call('POST', '/evaluations', { body: { ...body, executions: {} }, key });
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'insufficient_scope' } } });
  });
});
