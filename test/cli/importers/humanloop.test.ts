import { describe, expect, test } from '@jest/globals';
import { parseHumanloopPrompt } from '../../../cli/src/importers/humanloop-prompt-file.ts';
import { examplesOf, fixture, planFiles, versionsOf } from './support.ts';

describe('files of Humanloop', () => {
  test('become prompts: messages with images, tool calls and their results', async () => {
    const planned = await planFiles('humanloop', fixture('humanloop'));
    expect(versionsOf(planned, 'support/answer')).toEqual([
      expect.objectContaining({
        model: 'openai/gpt-4o',
        parameters: { temperature: 0.7, top_p: 1 },
        messages: [
          { role: 'system', content: 'You help {{ customer }}.\n  Indented.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'file', media_type: 'image/jpeg', url: 'https://example.com/photo.jpg' },
            ],
          },
          {
            role: 'assistant',
            content: [{ type: 'tool_call', id: 'call_1', name: 'get_order', input: { number: '17' } }],
          },
          {
            role: 'tool',
            content: [{ type: 'tool_result', id: 'call_1', name: 'get_order', output: '{"state": "sent"}' }],
          },
        ],
        tools: [expect.objectContaining({ name: 'get_order' })],
      }),
    ]);
    expect(versionsOf(planned, 'complete')).toEqual([
      expect.objectContaining({
        model: 'anthropic/claude-2',
        template: 'Write a limerick about {{ topic }}.',
        parameters: { max_tokens: 256 },
      }),
    ]);
  });

  test('become versions in order, environments labels, attributes config', async () => {
    const planned = await planFiles('humanloop', fixture('humanloop'));
    expect(versionsOf(planned, 'sales/pitch')).toEqual([
      expect.objectContaining({
        messages: [{ role: 'user', content: 'Pitch {{ product }}' }],
        description: 'For sales',
      }),
      expect.objectContaining({
        parameters: { temperature: 0.5, top_p: 1 },
        config: { owner: 'ada' },
        commit_message: 'Count words',
      }),
    ]);
    expect(planned.steps).toContainEqual({
      kind: 'label',
      name: 'sales/pitch',
      label: 'production',
      version: 2,
      was: undefined,
    });
    expect(planned.report.filter((line) => line.includes(': left out: '))).toEqual([
      'prompt broken: left out: it has a <system> that is not closed',
      'evaluator sales/length: left out: it is code, or set for Humanloop’s own models',
      'agent helper: left out: agents are not supported',
      'prompt sales/jinja: left out: its template is in the language "jinja"',
    ]);
  });

  test('become datasets', async () => {
    const planned = await planFiles('humanloop', fixture('humanloop'));
    expect(await examplesOf(planned, 'sales/cases')).toEqual([
      { id: 'dp_1', variables: { product: 'tea' }, expected: 'Buy tea!' },
      { id: 'dp_2', variables: { messages: [{ role: 'user', content: 'hi' }] }, expected: { a: 1, b: 2 } },
    ]);
  });

  test.each([
    ['no front matter', '<user>x</user>', 'no front matter'],
    ['text between messages', '---\nmodel: m\n---\nhello\n<user>x</user>', 'text outside'],
    ['text at the end', '---\nmodel: m\n---\n<user>x</user>\nbye', 'text outside'],
    ['no messages', '---\nmodel: m\n---\n\n', 'no messages'],
    ['a tool call of a user', '---\nmodel: m\n---\n<user><tool name="a" id="b">{}</tool></user>', 'tool call'],
    [
      'arguments that are not valid JSON',
      '---\nmodel: m\n---\n<assistant><tool name="a" id="b">{</tool></assistant>',
      'not valid JSON',
    ],
    ['a list in front', '---\n- m\n---\n<user>x</user>', 'not a mapping'],
  ])('a prompt file with %s is refused', (_, text, why) => {
    expect(() => parseHumanloopPrompt(text, 'a.prompt')).toThrow(why);
  });
});
