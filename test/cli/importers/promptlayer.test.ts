import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { fixture, planFiles, versionsOf, withFolder } from './support.ts';

describe('PromptLayer', () => {
  test('templates become ordered versions with labels, formats, placeholders and tools', async () => {
    const planned = await planFiles('promptlayer', fixture('promptlayer'));
    expect(versionsOf(planned, 'support/welcome-mail')).toEqual([
      expect.objectContaining({ model: 'claude-3', template: 'Hello {{ name }}' }),
      {
        name: 'support/welcome-mail',
        model: 'openai/gpt-4o',
        fallback_models: [],
        parameters: { temperature: 0.7, max_tokens: 256 },
        messages: [
          { role: 'system', content: 'Write {json} to {{ name }}.' },
          { placeholder: 'history' },
          {
            role: 'user',
            content: [
              { type: 'text', text: '{{ question }}' },
              { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' },
            ],
          },
        ],
        tools: [{ name: 'send', description: 'Sends it', input_schema: { type: 'object' } }],
        tool_choice: { name: 'send' },
        config: { promptlayer: { metadata: { owner: 'kim' }, parameters: { n: 1 }, tags: ['mail'] } },
        commit_message: 'Warmer',
      },
    ]);
    expect(planned.imported.prompts[0]?.labels).toEqual({ prod: 2 });
    expect(planned.report).toContain('prompt logic: left out: the template has logic ("{% …")');
    expect(planned.report).toContainEqual(expect.stringMatching(/^prompt snippet: left out: it has a snippet/));
    expect(planned.report[0]).toContain('its provider "amazon.bedrock" is left out');
  });

  test.each([
    ['{"a": 1}', 'a.json: is not a prompt template'],
    ['{"items": [', 'a.json: is not valid JSON'],
  ])('an unreadable item is named: %s', async (content, message) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'a.json'), content);
      await expect(planFiles('promptlayer', folder)).rejects.toThrow(message);
    });
  });
});
