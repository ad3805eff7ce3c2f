import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

const PNG = 'iVBORw0KGgo=';
const TOOL = { name: 'look_up', input_schema: { type: 'object' } };
const USAGE = { input: 1_000, output: 1_000 };
/** 1,000 input and 1,000 output tokens: of gpt-4o-mini, and of claude-haiku-4-5 (1 and 5 USD a million). */
const [CALL_USD, FALLBACK_USD] = [0.00075, 0.006];

let anthropic: StandIn;
let stage: EvaluationStage;
beforeAll(async () => {
  anthropic = await startAnthropicServer({
    on: (await sharedProviders()).anthropic,
    answer: ({ prompt }) => ({ text: `Fallback: ${prompt}`, usage: USAGE }),
  });
  stage = await startStage({
    answer: ({ prompt }) => {
      if (prompt.startsWith('You grade')) return { text: JSON.stringify({ reason: 'fine', score: 5 }), usage: USAGE };
      if (prompt.startsWith('Look'))
        return { text: '', toolCalls: [{ id: 'call_1', name: 'look_up', input: { city: prompt.slice(5) } }] };
      return { text: `Answer to: ${prompt}`, usage: USAGE };
    },
  });
});
afterAll(async () => {
  await stage?.stop();
  await anthropic?.close();
});
beforeEach(() => {
  stage.openai.behave();
  anthropic.behave();
});

async function write(name: string, version: object): Promise<void> {
  const body = { name, model: 'openai/gpt-4o-mini', ...version };
  const answer = await stage.service.call('POST', '/prompts', { body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
}

const lastCall = (prompt: string) => stage.openai.calls.findLast((call) => call.prompt.startsWith(prompt));

describe('messages', () => {
  beforeAll(() =>
    write('chat', {
      messages: [
        { role: 'system', content: 'You are {{ who }}.' },
        { placeholder: 'history', required: false },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look {{ city }}' },
            { type: 'file', media_type: 'image/png', variable: 'photo' },
          ],
        },
      ],
      tools: [TOOL],
      tool_choice: 'auto',
      inputs: { who: { type: 'string', default: 'kind' }, city: { type: 'string', enum: ['Paris', 'Rome'] } },
    }),
  );
  const history = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi {{ city }}' },
  ];
  const examples = [{ id: 'paris', variables: { city: 'Paris', history, photo: { data: PNG } } }];
  const judge = { type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Right tool?' };

  test('lists and files are variables of examples, tools are sent, and tool calls are in the result', async () => {
    const run = await stage.run({ prompt_name: 'chat', examples, evaluators: [judge] });
    expect(run).toMatchObject({ status: 'completed', score: 1, examples_failed: 0 });
    expect(lastCall('Look')?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'You are kind.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi {{ city }}' },
        { role: 'user', content: [{ type: 'text', text: 'Look Paris' }, { type: 'image_url' }] },
      ],
      tools: [{ function: { name: 'look_up' } }],
      tool_choice: 'auto',
    });
    expect(await stage.results(run.id)).toMatchObject([
      {
        output: '',
        tool_calls: [{ id: 'call_1', name: 'look_up', input: { city: 'Paris' } }],
        model: 'openai/gpt-4o-mini',
        finish_reason: 'tool_calls',
      },
    ]);
  });

  test('tool calls, latency and cost are scored, also after a judge, and in a thread', async () => {
    const evaluators = [
      { type: 'tool_calls' },
      { type: 'tool_calls', name: 'other', value: [{ name: 'other' }] },
      { type: 'latency', at_most_ms: 3_600_000 },
      { type: 'cost', at_most_usd: 0.0000001 },
    ];
    const expected = [{ name: 'look_up', input: { city: 'Paris' } }];
    const scores = { tool_calls: 1, other: 0, latency: 1, cost: 0 };
    const withExpected = examples.map((example) => ({ ...example, expected }));
    for (const more of [[], [judge], [{ type: 'regex', pattern: '^$' }]]) {
      const run = await stage.run({
        prompt_name: 'chat',
        examples: withExpected,
        evaluators: [...evaluators, ...more],
      });
      expect(run.scores_by_evaluator).toMatchObject(scores);
    }
  });

  test('a judge reads them with their roles, and no base64', () => {
    const prompt = lastCall('You grade')?.prompt ?? '';
    expect(prompt).toContain('system:\nYou are kind.\n\nuser:\nHello');
    expect(prompt).toContain('Look Paris\n[file image/png]');
    expect(prompt).toContain('[tool call look_up: {"city":"Paris"}]');
    expect(prompt).not.toContain(PNG);
  });

  test('inline examples that do not fit are refused by position', async () => {
    const tool = { role: 'tool', content: [{ type: 'tool_result', id: 'c', name: 'look_up', output: 1 }] };
    const answer = await stage.create({
      prompt_name: 'chat',
      examples: [
        { variables: { city: 'Oslo', photo: { data: PNG } } },
        { variables: { city: 'Rome', photo: { data: 'no base64' } } },
        { variables: { city: 'Rome', photo: { data: PNG }, history: [tool] } },
      ],
    });
    const details: { path: string }[] = answer.body.error.details;
    expect([answer.status, details.map(({ path }) => path)]).toEqual([
      400,
      ['examples.0.variables.city', 'examples.1.variables.photo.data', 'examples.2.variables.history.0'],
    ]);
  });

  test('the CSV has the tool calls and the model', async () => {
    const { body } = await stage.service.call('GET', '/evaluations?prompt_name=chat');
    const csv = await stage.service.call('GET', `/evaluations/${body.data[0].id}/results?format=csv`);
    expect(csv.body).toContain('tool_calls,model');
    expect(csv.body).toContain('openai/gpt-4o-mini');
  });
});

test('includes are pinned when the run is created', async () => {
  await write('tone', { template: 'kindly' });
  await stage.service.call('PUT', '/prompts/tone/labels/live', { body: { version: 1 } });
  await write('includes', { template: 'Say {{> tone@live }} {{ text }}' });
  const id = await stage.begin({
    prompt_name: 'includes',
    examples: [{ variables: { text: 'hi' } }],
    start_at: new Date(Date.now() + 1_500).toISOString(),
  });
  await write('tone', { template: 'rudely' });
  await stage.service.call('PUT', '/prompts/tone/labels/live', { body: { version: 2 } });
  expect(await stage.until(id, 'completed')).toMatchObject({ includes: [{ name: 'tone', version: 1 }] });
  const [{ output }] = await stage.results(id);
  expect(output).toBe('Answer to: Say kindly hi');
});

describe('fallback models', () => {
  beforeAll(() =>
    write('safe', {
      template: 'Say {{ text }}',
      fallback_models: ['anthropic/claude-haiku-4-5', 'mistral/mistral-small-latest'],
    }),
  );

  test('respond if the model failed for good, and each result names the responder', async () => {
    stage.openai.behave({ mode: 'fail', status: 401, matching: 'down' });
    const examples = [...examplesOf('down', 2), ...examplesOf('up', 2)];
    const run = await stage.run({ prompt_name: 'safe', examples, concurrency: 1 });
    expect(run).toMatchObject({
      status: 'completed',
      examples_failed: 0,
      fallback_models: ['anthropic/claude-haiku-4-5', 'mistral/mistral-small-latest'],
      cost: { amount: String(2 * CALL_USD + 2 * FALLBACK_USD) },
    });
    const rows: { model: string; attempts: number }[] = await stage.results(run.id);
    expect(rows.map(({ model, attempts }) => [model, attempts])).toEqual([
      ['anthropic/claude-haiku-4-5', 2],
      ['anthropic/claude-haiku-4-5', 2],
      ['openai/gpt-4o-mini', 1],
      ['openai/gpt-4o-mini', 1],
    ]);
    const usage = await stage.service.call('GET', '/usage?group_by=model&prompt_name=safe');
    expect(usage.body.evaluations).toMatchObject([
      { model: 'anthropic/claude-haiku-4-5', examples: 2 },
      { model: 'openai/gpt-4o-mini', examples: 2 },
    ]);
  });

  test('are not called if another model would fail, too', async () => {
    stage.openai.behave({ mode: 'fail', status: 400 });
    const before = anthropic.callCount;
    const run = await stage.run({ prompt_name: 'safe', examples: examplesOf('refused', 1) });
    expect(run).toMatchObject({ status: 'completed', examples_failed: 1 });
    expect(anthropic.callCount).toBe(before);
  });

  test('end the run if none can be called', async () => {
    stage.openai.behave({ mode: 'fail', status: 401 });
    anthropic.behave({ mode: 'fail', status: 401 });
    const run = await stage.run({ prompt_name: 'safe', examples: examplesOf('none', 2) });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'model_authentication' } });
  });

  test('a budget for the most expensive one is kept when they take over', async () => {
    stage.openai.behave({ mode: 'fail', status: 401, after: 8 });
    const run = await stage.begin({
      prompt_name: 'safe',
      examples: examplesOf('budget', 60),
      concurrency: 4,
      max_cost: '0.05',
      threshold: 0,
    });
    const { cost, examples_evaluated } = await stage.until(run, 'paused');
    expect(Number(cost.amount)).toBeLessThanOrEqual(0.05);
    // The rest does not cover another example with the most expensive model, or is below 10 %.
    expect(Number(cost.amount)).toBeGreaterThan(0.05 - FALLBACK_USD - 0.005);
    expect(examples_evaluated).toBeGreaterThan(8);
  });
});
