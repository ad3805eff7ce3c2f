import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../src/domain/prompts/messages.ts';
import { type AllStandIns, MODELS, startAllStandIns, type TestModel } from '../support/providers/all.ts';
import { callOf } from '../support/providers/models.ts';

// Messages as sent by agents: each provider gets what it supports, and the response lists what it did not get.

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
  message: `are sent without their reasoning_content: ${provider} does not accept it`,
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

test.each(MODELS)('%s: supported parts cause no warning', async (model: TestModel) => {
  const input: ChatMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ];
  expect(await standIns.models.generate(callOf(model, { input }))).not.toHaveProperty('warnings');
});

const MARK = { type: 'ephemeral' as const };
const HOUR = { type: 'ephemeral' as const, ttl: '1h' as const };
const MARKED: ChatMessage[] = [
  {
    role: 'system',
    content: [
      { type: 'text', text: 'Rules.', cache_control: HOUR },
      { type: 'text', text: ' Be brief.' },
    ],
  },
  { role: 'user', content: [{ type: 'text', text: 'Plan it.', cache_control: MARK }] },
  {
    role: 'assistant',
    content: [{ type: 'tool_call', id: 'call_0001', name: 'plan', input: {} }],
    reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
  },
  {
    role: 'tool',
    content: [{ type: 'tool_result', id: 'call_0001', name: 'plan', output: 'done', cache_control: MARK }],
  },
];
const TOOL = { name: 'plan', input_schema: { type: 'object', properties: {} }, cache_control: MARK };

async function sentMarked(model: string, input = MARKED) {
  const response = await standIns.models.generate(callOf(model, { input, tools: [TOOL] }));
  return { body: standIns.lastCall(model).body, warnings: response.warnings };
}

test('cache marks reach Anthropic in place', async () => {
  const { body, warnings } = await sentMarked('anthropic/claude-sonnet-4-5');
  expect(body).toMatchObject({
    system: [
      { type: 'text', text: 'Rules.', cache_control: HOUR },
      { type: 'text', text: ' Be brief.' },
    ],
    messages: [
      { content: [{ type: 'text', text: 'Plan it.', cache_control: MARK }] },
      { content: [{ type: 'tool_use' }] },
      { content: [{ type: 'tool_result', content: 'done', cache_control: MARK }] },
    ],
    tools: [{ name: 'plan', cache_control: MARK }],
  });
  expect(warnings).toEqual([
    {
      path: 'messages',
      message: 'are sent without their reasoning_details: anthropic does not accept it',
    },
  ]);
});

test('Anthropic gets the last four marks, which cache all before them', async () => {
  const more: ChatMessage[] = [
    ...MARKED,
    { role: 'user', content: [{ type: 'text', text: 'Go on.', cache_control: MARK }] },
  ];
  const { body, warnings } = await sentMarked('anthropic/claude-sonnet-4-5', more);
  expect(JSON.stringify(body).match(/"cache_control"/g)).toHaveLength(4);
  expect(body['tools']).toEqual([expect.not.objectContaining({ cache_control: MARK })]);
  expect(warnings).toContainEqual({
    path: 'tools',
    message: 'are sent without cache_control except for the last 4: anthropic accepts no more',
  });
});

test('a mark of a later system message stays with its text', async () => {
  const input: ChatMessage[] = [
    { role: 'user', content: 'Hi' },
    { role: 'system', content: [{ type: 'text', text: 'Be kind.', cache_control: MARK }] },
  ];
  const { body } = await sentMarked('anthropic/claude-sonnet-4-5', input);
  expect(body['messages']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'text', text: '<system>\nBe kind.\n</system>', cache_control: MARK },
      ],
    },
  ]);
});

test('marks and details of reasoning reach compatible servers as with OpenRouter', async () => {
  const { body, warnings } = await sentMarked('openai-compatible/m');
  expect(body).toMatchObject({
    messages: [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'Rules.', cache_control: HOUR },
          { type: 'text', text: ' Be brief.' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Plan it.', cache_control: MARK }] },
      { role: 'assistant', content: null, reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] },
      { role: 'tool', content: [{ type: 'text', text: 'done', cache_control: MARK }] },
    ],
    tools: [{ type: 'function', cache_control: MARK }],
  });
  expect(warnings).toBeUndefined();
});

test.each(['openai/gpt-4o', 'mistral/mistral-small-latest', 'google/gemini-2.5-flash'])(
  '%s has no cache marks, and the response says so',
  async (model) => {
    const { body, warnings } = await sentMarked(model);
    expect(JSON.stringify(body)).not.toMatch(/cache_?control|ephemeral|reasoning_details/i);
    const [provider] = model.split('/');
    expect(warnings).toContainEqual({
      path: 'tools',
      message: `are sent without cache_control: ${provider} has no marks of its cache`,
    });
    expect(warnings).toContainEqual({
      path: 'messages',
      message: `are sent without their reasoning_details: ${provider} does not accept it`,
    });
  },
);
