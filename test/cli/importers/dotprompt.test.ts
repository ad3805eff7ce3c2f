import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readHandlebars } from '../../../cli/src/importers/handlebars.ts';
import { readPicoschema } from '../../../cli/src/importers/picoschema.ts';
import { fixture, planFiles, versionsOf, withFolder } from './support.ts';

describe('dotprompt', () => {
  test('files become prompts with their roles, files, history, inputs, tools and output', async () => {
    const planned = await planFiles('dotprompt', fixture('dotprompt'));
    expect(versionsOf(planned, 'greeting')).toEqual([
      {
        name: 'greeting',
        description: 'Greets by name',
        model: 'google/gemini-2.5-flash',
        fallback_models: [],
        parameters: {
          temperature: 0.4,
          top_k: 20,
          max_tokens: 200,
          response_format: {
            type: 'json_schema',
            json_schema: {
              name: 'response',
              schema: {
                type: 'object',
                properties: {
                  text: { type: 'string' },
                  tags: { type: ['array', 'null'], items: { type: 'string' }, description: 'a few words' },
                },
                required: ['text'],
                additionalProperties: false,
              },
            },
          },
        },
        messages: [
          {
            role: 'system',
            content: 'You write {{ style }} greetings. Write \\{{name}} as it is.\n{{> _footer }}',
          },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Greet {{ name }}.\n' },
              { type: 'file', media_type: 'image/png', variable: 'photo' },
            ],
          },
          { placeholder: 'history', required: false },
          { role: 'assistant', content: 'Here it is:' },
        ],
        inputs: {
          name: { type: 'string', description: 'how to call them' },
          style: {
            type: 'string',
            default: 'warm',
            description: 'how it sounds',
            required: false,
            enum: ['warm', 'brief'],
          },
          photo: { type: 'file', required: false },
        },
        tools: [
          {
            name: 'lookUp',
            description: 'Looks up a person',
            input_schema: {
              type: 'object',
              properties: { id: { type: 'integer' } },
              required: ['id'],
              additionalProperties: false,
            },
          },
        ],
        config: { dotprompt: { 'myext.team': 'greetings', config: { safetySettings: [] } } },
      },
    ]);
    expect(versionsOf(planned, '_footer')).toEqual([
      expect.objectContaining({ model: 'google/gemini-2.5-flash', template: 'With kind regards, {{ team_name }}' }),
    ]);
    expect(versionsOf(planned, 'mail/short')).toEqual([
      expect.objectContaining({ model: 'google/gemini-2.5-pro', template: 'Shorten: {{ text }}' }),
    ]);
    const { report } = planned;
    expect(report).toContain(
      'prompt mail/list: left out: the template has more than a plain variable ("{{#each items}}")',
    );
    const line = report.find((one) => one.startsWith('prompt greeting:'));
    for (const what of [
      'tools that are defined elsewhere are left out: elsewhere',
      'white space at the ends of messages',
    ])
      expect(line).toContain(what);
  });

  test.each([
    ['a{{! x }}b', ['a', 'b']],
    ['a\n {{!-- }} --}} \nb', ['a\n', 'b']],
    ['a\n{{>p}}\nb', ['a\n', { partial: 'p' }, 'b']],
    ['a {{>p}}\nb', ['a ', { partial: 'p' }, '\nb']],
    ['{{{a.b}}}', [{ variable: 'a.b' }]],
    ["{{role 'user'}}{{history}}", [{ role: 'user' }, { history: true }]],
    ['\\{{x}} {{y}}', ['{{x}}', ' ', { variable: 'y' }]],
    ['{ {x} }', ['{ {x} }']],
  ])('a template is parsed: %j', (text, pieces) => {
    expect(readHandlebars(text)).toEqual(pieces);
  });

  test.each([
    ['{{#if a}}b{{/if}}', 'more than a plain variable'],
    ['{{json a}}', 'more than a plain variable'],
    ['{{@state.x}}', 'more than a plain variable'],
    ['{{this}}', 'more than a plain variable'],
    ['{{> a b=c}}', 'more than a plain variable'],
    ['{{~a}}', 'removes white space'],
    ['  {{>p}}\n', 'indents a partial'],
    ['a {{b', 'not closed'],
    ['{{media type="x"}}', 'media helper that cannot be read'],
  ])('a template that computes is refused: %s', (text, why) => {
    expect(() => readHandlebars(text)).toThrow(why);
  });

  test('schemas are JSON schemas', () => {
    expect(readPicoschema({ type: 'object', properties: {} })).toEqual({ type: 'object', properties: {} });
    expect(readPicoschema({ 'a(object, of x)': { 'b?': 'number' }, '(*)': 'any, rest' })).toEqual({
      type: 'object',
      properties: {
        a: {
          type: 'object',
          properties: { b: { type: ['number', 'null'] } },
          additionalProperties: false,
          description: 'of x',
        },
      },
      required: ['a'],
      additionalProperties: { description: 'rest' },
    });
    expect(() => readPicoschema({ a: 'Person' })).toThrow('it names the schema "Person"');
  });

  test('unreadable front matter is named with its line', async () => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'a.prompt'), '# x\n\n---\nmodel: [\n---\nHello');
      await expect(planFiles('dotprompt', folder)).rejects.toThrow(/^a\.prompt:4: is not valid YAML/);
      await writeFile(path.join(folder, 'a.prompt'), '---\n- x\n---\nHello');
      await expect(planFiles('dotprompt', folder)).rejects.toThrow('a.prompt:2: the front matter is not a mapping');
    });
  });
});
