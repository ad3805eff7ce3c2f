import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { examplesOf, fixture, planFiles, versionsOf, withFolder } from './support.ts';

describe('Prompty', () => {
  test('v2: messages, thread, inputs, outputs and tools', async () => {
    const planned = await planFiles('prompty', fixture('prompty'));
    expect(versionsOf(planned, 'answer')).toEqual([
      {
        name: 'answer',
        description: 'Answers with a schema',
        model: 'anthropic/claude-sonnet-4-5',
        fallback_models: [],
        parameters: {
          temperature: 0.3,
          max_tokens: 400,
          stop: ['END'],
          response_format: {
            type: 'json_schema',
            json_schema: {
              name: 'structured_output',
              strict: true,
              schema: {
                type: 'object',
                properties: {
                  answer: { type: 'string' },
                  sources: { type: ['array', 'null'], items: { type: 'string' } },
                },
                required: ['answer', 'sources'],
                additionalProperties: false,
              },
            },
          },
        },
        messages: [
          {
            role: 'system',
            content: 'You answer in a {{ tone }} tone.\nSee ![a picture](https://example.com/a.png).',
          },
          { placeholder: 'conversation', required: false },
          { role: 'user', content: '{{ question }}' },
        ],
        inputs: {
          question: { type: 'string', description: 'What is asked' },
          tone: { type: 'string', default: 'warm', enum: ['warm', 'brief'] },
          conversation: { type: 'messages', required: false },
        },
        tools: [
          {
            name: 'look_up',
            description: 'Looks it up',
            input_schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
          },
        ],
        config: { prompty: { metadata: { authors: ['kim'] }, options: { custom: 1 } } },
      },
    ]);
    expect(await examplesOf(planned, 'answer')).toEqual([{ variables: { question: 'Why?', tone: 'warm' } }]);
    const line = planned.report.find((one) => one.startsWith('prompt answer:'));
    for (const what of ['the tool "files" is left out: it is of the kind "mcp"', 'bindings of the tool "look_up"'])
      expect(line).toContain(what);
    expect(line).not.toContain('API_KEY');
  });

  test('v1: connection, parameters, samples, images, completions', async () => {
    const planned = await planFiles('prompty', fixture('prompty'));
    expect(versionsOf(planned, 'old/chat')).toEqual([
      expect.objectContaining({
        model: 'gpt-4o',
        parameters: { max_tokens: 100, response_format: { type: 'json_object' } },
        messages: [
          { role: 'system', content: 'You help {{ firstName }}, who is {{ age }}.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'file', media_type: 'image/jpeg', url: 'https://example.com/photo.jpg' },
            ],
          },
        ],
        inputs: { firstName: { type: 'string', default: 'Jane' }, age: { type: 'number', default: 30 } },
        tools: [{ name: 'f', input_schema: { type: 'object' } }],
      }),
    ]);
    expect(await examplesOf(planned, 'old/chat')).toEqual([{ variables: { firstName: 'Ada', age: 36 } }]);
    expect(versionsOf(planned, 'old/completion')).toEqual([
      expect.objectContaining({ model: 'openai/gpt-3.5-turbo-instruct', template: 'Once upon {{ time }}' }),
    ]);
    expect(planned.report).toContain('prompt logic: left out: the template has logic ("{% …")');
  });

  test('an unreadable one of several files is left out with its line', async () => {
    const { report } = await planFiles('prompty', fixture('prompty'));
    expect(report.filter((line) => line.startsWith('file '))).toEqual([
      expect.stringMatching(/^file broken\.prompty:3: left out: is not valid YAML/),
      'file outside.prompty: left out: names ../outside.json, which is not in its folder',
    ]);
  });

  test('a single unreadable one is named with its line', async () => {
    await withFolder(async (folder) => {
      const file = path.join(folder, 'a.prompty');
      await writeFile(file, '---\nmodel: x\ninputs: "\n---\nuser:\nHi');
      await expect(planFiles('prompty', file)).rejects.toThrow(/^a\.prompty:3: is not valid YAML/);
    });
  });
});
