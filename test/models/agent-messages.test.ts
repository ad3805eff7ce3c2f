import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../src/domain/prompts/messages.ts';
import { type AllStandIns, MODELS, startAllStandIns, type TestModel } from '../support/providers/all.ts';
import { callOf } from '../support/providers/models.ts';

// Messages as agents send them: each provider gets what it has a place for, and the response says what it did not get.

let standIns: AllStandIns;
beforeAll(async () => {
  standIns = await startAllStandIns();
});
afterAll(() => standIns.close());

const MESSAGES: ChatMessage[] = [
  { role: 'system', content: 'Be brief.', name: 'owner' },
  { role: 'user', content: 'Plan it.', name: 'ada' },
  {
    role: 'assistant',
    content: [{ type: 'tool_call', id: 'call_0001', name: 'plan', input: {} }],
    name: 'planner',
    reasoning_content: 'Hm.',
  },
  { role: 'tool', content: [{ type: 'tool_result', id: 'call_0001', name: 'plan', output: 'done' }] },
  { role: 'system', content: 'Who is next?' },
];

async function sent(model: string, parameters = {}) {
  const response = await standIns.models.generate(callOf(model, { input: MESSAGES, parameters }));
  return { body: standIns.lastCall(model).body, warnings: response.warnings };
}

const call = { id: 'call_0001', type: 'function', function: { name: 'plan', arguments: '{}' } };
const NO_NAMES = (provider: string) => ({
  path: 'messages',
  message: `are sent without their names: ${provider} has no names of messages`,
});
const NO_REASONING = (provider: string) => ({
  path: 'messages',
  message: `are sent without their reasoning_content: ${provider} does not take it back`,
});
const FOLDED = (provider: string) => ({
  path: 'messages.4',
  message: `is sent as a user message in <system> tags: ${provider} takes system messages only before all others`,
});
const LEFT_OUT = (parameter: string, provider: string) => ({
  path: `parameters.${parameter}`,
  message: `is left out: ${provider} has no such parameter`,
});

const CHAT = [
  { role: 'system', content: 'Be brief.', name: 'owner' },
  { role: 'user', content: 'Plan it.', name: 'ada' },
  { role: 'assistant', content: null, name: 'planner', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_0001', content: 'done' },
  { role: 'system', content: 'Who is next?' },
];

test('openai', async () => {
  const { body, warnings } = await sent('openai/gpt-4o', { top_k: 5, verbosity: 'low' });
  expect(body).toEqual({ model: 'gpt-4o', messages: CHAT, verbosity: 'low' });
  expect(warnings).toEqual([NO_REASONING('openai'), LEFT_OUT('top_k', 'openai')]);
});

test('openai-compatible', async () => {
  const { body, warnings } = await sent('openai-compatible/m', { top_k: 5, verbosity: 'low' });
  expect(body).toMatchObject({
    messages: CHAT.map((message) => (message.name === 'planner' ? { ...message, reasoning_content: 'Hm.' } : message)),
    top_k: 5,
    verbosity: 'low',
  });
  expect(warnings).toBeUndefined();
});

test('mistral', async () => {
  const { body, warnings } = await sent('mistral/mistral-small-latest', { top_k: 5, verbosity: 'low' });
  expect(JSON.stringify(body)).not.toMatch(/"(name":"(owner|ada|planner)|reasoning_content|top_k|verbosity)"/);
  expect((body['messages'] as unknown[]).at(-1)).toEqual({
    role: 'user',
    content: [{ type: 'text', text: '<system>\nWho is next?\n</system>' }],
  });
  expect(warnings).toEqual([
    FOLDED('mistral'),
    NO_NAMES('mistral'),
    NO_REASONING('mistral'),
    LEFT_OUT('top_k', 'mistral'),
    LEFT_OUT('verbosity', 'mistral'),
  ]);
});

test('anthropic', async () => {
  const { body, warnings } = await sent('anthropic/claude-sonnet-4-5', { top_k: 5, verbosity: 'low' });
  expect(body).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Plan it.' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0001', name: 'plan', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_0001', content: 'done' },
          { type: 'text', text: '<system>\nWho is next?\n</system>' },
        ],
      },
    ],
    top_k: 5,
  });
  expect(warnings).toEqual([
    FOLDED('anthropic'),
    NO_NAMES('anthropic'),
    NO_REASONING('anthropic'),
    LEFT_OUT('verbosity', 'anthropic'),
  ]);
});

test('google', async () => {
  const { body, warnings } = await sent('google/gemini-2.5-flash', { top_k: 5, verbosity: 'low' });
  expect(body).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { topK: 5 },
  });
  expect((body['contents'] as unknown[]).at(-1)).toEqual({
    role: 'user',
    parts: [{ text: '<system>\nWho is next?\n</system>' }],
  });
  expect(warnings).toEqual([
    FOLDED('google'),
    NO_NAMES('google'),
    NO_REASONING('google'),
    LEFT_OUT('verbosity', 'google'),
  ]);
});

test.each(MODELS)('%s: what it takes whole is not warned of', async (model: TestModel) => {
  const input: ChatMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ];
  expect(await standIns.models.generate(callOf(model, { input }))).not.toHaveProperty('warnings');
});
