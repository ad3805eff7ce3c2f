import { expect, test } from '@jest/globals';
import type { ModelResponse } from '../../src/models/model.ts';
import { inputMessages, outputMessages } from '../../src/telemetry/content.ts';

const response = (given: Partial<ModelResponse>): ModelResponse => ({
  output: '',
  toolCalls: [],
  finishReason: 'stop',
  tokens: { input: 1, output: 1, cached_input: 0, reasoning: 0, total: 2 },
  cost: { amount: null, currency: 'USD', pricing: null },
  modelMs: 1,
  providerModel: null,
  ...given,
});

test('messages have their roles and parts; files only their type and address', () => {
  const told = inputMessages([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'file', media_type: 'image/png', data: 'iVBORw0KGgo=' },
        { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_call', id: 'call_1', name: 'look', input: { at: 'it' } }] },
    { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'look', output: ['a', 'cat'] }] },
  ]);
  expect(JSON.parse(told)).toEqual([
    { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
    {
      role: 'user',
      parts: [
        { type: 'text', content: 'What is it?' },
        { type: 'file', mime_type: 'image/png' },
        { type: 'file', mime_type: 'image/png', uri: 'https://example.com/a.png' },
      ],
    },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'call_1', name: 'look', arguments: { at: 'it' } }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: ['a', 'cat'] }] },
  ]);
  expect(JSON.parse(outputMessages(response({ toolCalls: [{ id: 'call_2', name: 'look', input: {} }] })))).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 'call_2', name: 'look', arguments: {} }],
      finish_reason: 'stop',
    },
  ]);
});

test('however much is sent, the content is bounded, valid JSON in valid Unicode', () => {
  const long = 'x'.repeat(1_000_000);
  const told = inputMessages([
    { role: 'user', content: `${'y'.repeat(32 * 1024 - 1)}😀` },
    { role: 'assistant', content: [{ type: 'tool_call', id: 'call_1', name: 'look', input: { long } }] },
    ...Array.from({ length: 10_000 }, () => ({ role: 'user' as const, content: long })),
  ]);
  expect(told.length).toBeLessThan(100_000);
  expect(told.isWellFormed()).toBe(true);
  expect(JSON.parse(told)[1].parts[0].arguments).toBe('[too long]');
  const answer = outputMessages(response({ output: long }));
  expect(JSON.parse(answer)[0].parts[0].content).toHaveLength(32 * 1024);
});
