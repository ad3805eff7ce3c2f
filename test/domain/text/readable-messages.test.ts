import { expect, test } from '@jest/globals';
import { readableInput, readableOutput } from '../../../src/domain/text/readable-messages.ts';

test('a text is unchanged', () => {
  expect(readableInput('Say {{ x }}')).toBe('Say {{ x }}');
  expect(readableOutput('Hello', [])).toBe('Hello');
});

test('messages have their roles, tool calls and results are JSON, and files are named but not shown', () => {
  const data = Buffer.from('secret bytes').toString('base64');
  const text = readableInput([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', media_type: 'image/png', filename: 'cat.png', data },
        { type: 'file', media_type: 'application/pdf', url: 'https://example.com/a.pdf' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'look', input: { at: 'cat' } }] },
    { role: 'tool', content: [{ type: 'tool_result', id: 'c1', name: 'look', output: ['a cat'] }] },
  ]);
  expect(text).toBe(
    [
      'system:\nBe brief.',
      'user:\nWhat is this?\n[file cat.png, image/png]\n[file application/pdf, https://example.com/a.pdf]',
      'assistant:\n[tool call c1 look: {"at":"cat"}]',
      'tool:\n[result of c1 look: ["a cat"]]',
    ].join('\n\n'),
  );
  expect(text).not.toContain(data);
});

test('a response with tool calls has them after its text', () => {
  const call = { id: 'c1', name: 'look', input: { at: 1 } };
  expect(readableOutput('', [call])).toBe('[tool call look: {"at":1}]');
  expect(readableOutput('I look.', [call, call])).toBe(
    'I look.\n[tool call look: {"at":1}]\n[tool call look: {"at":1}]',
  );
});
