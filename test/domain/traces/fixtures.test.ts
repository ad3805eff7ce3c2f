import { describe, expect, test } from '@jest/globals';
import type { Step } from '../../../src/domain/traces/step.ts';
import { fixture, readBody, readJson, toProtobuf } from './traces-support.ts';

const QUESTION = { role: 'user', content: 'What is the weather in Paris?' };
const SYSTEM = { role: 'system', content: 'Be short.' };
const CALL = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };
const CALLED = { role: 'assistant', content: [{ type: 'tool_call', ...CALL }] };
const RESULT = {
  role: 'tool',
  content: [{ type: 'tool_result', id: 'call_1', name: 'get_weather', output: '21 degrees in Paris' }],
};
const ANSWER = 'It is 21 degrees in Paris.';

/** Token kinds of instrumentations beyond input and output, and whether they put calls in one trace, under an agent. */
const INSTRUMENTATIONS = [
  { name: 'ai-sdk', reasoning: 0, agent: 'weather_agent' },
  { name: 'ai-sdk-legacy', agent: 'weather_agent' },
  { name: 'langfuse', agent: 'weather_agent', prompt: null, provider: null },
  { name: 'langgraph', agent: 'weather_agent' },
  { name: 'litellm', cached_input: 0, reasoning: 0, agent: null },
  { name: 'openai-agents', cached_input: 0, reasoning: 0, agent: 'weather_agent' },
  { name: 'openinference-openai', agent: null },
  { name: 'openllmetry', reasoning: 0, agent: null },
  { name: 'pydantic-ai', agent: 'weather_agent' },
];

const byStart = (a: Step, b: Step) => a.startedAt - b.startedAt;
/** Without the name of the speaker, which LangGraph adds. */
const withoutNames = (input: Step['input']) =>
  Array.isArray(input) ? input.map(({ role, content }) => ({ role, content })) : input;

describe.each(INSTRUMENTATIONS)('Spans of $name', ({ name, agent, ...sent }) => {
  const { billed, request } = fixture(name);
  const { steps, refused } = readJson(request);
  const models = steps.filter(({ type }) => type === 'model').sort(byStart);

  test('are all read, and the calls have their models and tokens', () => {
    expect(refused).toEqual([]);
    expect(models).toHaveLength(billed.calls);
    const sum = (kind: 'input' | 'output' | 'cached_input' | 'reasoning') =>
      models.reduce((total, { tokens }) => total + (tokens?.[kind] ?? 0), 0);
    expect({
      input: sum('input'),
      output: sum('output'),
      cached_input: sum('cached_input'),
      reasoning: sum('reasoning'),
    }).toEqual({
      input: billed.input,
      output: billed.output,
      cached_input: sent.cached_input ?? billed.cached_input,
      reasoning: sent.reasoning ?? billed.reasoning,
    });
    for (const model of models)
      expect(model).toMatchObject({
        status: 'ok',
        model: 'gpt-4o-mini',
        provider: sent.provider === null ? null : 'openai',
        service: 'weather',
        environment: 'test',
        cost: null,
        cut: [],
      });
  });

  test('have the input and output of the model', () => {
    expect(models.map(({ input }) => withoutNames(input))).toEqual([
      [SYSTEM, QUESTION],
      [SYSTEM, QUESTION, CALLED, RESULT],
    ]);
    expect(models.map(({ output, toolCalls }) => ({ output, toolCalls }))).toEqual([
      { output: null, toolCalls: [CALL] },
      { output: ANSWER, toolCalls: [] },
    ]);
  });

  test('have the prompt, the conversation and the user', () => {
    const prompt = sent.prompt === null ? null : { name: 'weather', version: 3 };
    // Pydantic AI generates a conversation for each run.
    const conversation = name === 'pydantic-ai' ? expect.stringMatching(/^[0-9a-f-]{36}$/) : 'conversation-1';
    for (const step of steps) expect(step).toMatchObject({ prompt, conversationId: conversation, userId: 'user-1' });
  });

  test('have the tool and agent around the calls', () => {
    const tool = steps.find(({ type }) => type === 'tool');
    const root = steps.find(({ type, parentId }) => type === 'agent' && parentId === null);
    if (agent === null) {
      expect({ tool, root }).toEqual({ tool: undefined, root: undefined });
      return;
    }
    expect(tool).toMatchObject({ tool: 'get_weather', status: 'ok' });
    expect(tool?.input).toContain('Paris');
    expect(tool?.output).toContain('21 degrees in Paris');
    expect(steps.some((step) => step.type === 'agent' && step.agent === agent)).toBe(true);
    // OpenAI Agents does not report the input and output of agents.
    if (name === 'openai-agents') expect(root).toMatchObject({ input: null, output: null });
    else {
      expect(JSON.stringify(root?.input)).toContain(QUESTION.content);
      expect(root?.output).toBe(ANSWER);
    }
  });

  test('are the same in protobuf', () => {
    expect(readBody(toProtobuf(request), 'protobuf')).toEqual({ steps, refused, ignored: 0 });
  });
});
