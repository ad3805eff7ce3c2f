import { describe, expect, test } from '@jest/globals';
import type { Variables } from '../../../src/domain/prompt-rules/prompt-values.ts';
import { type ChatMessage, MAX_RENDERED_CHARS } from '../../../src/domain/prompts/messages.ts';
import {
  includedVersions,
  includesOf,
  parsePrompt,
  TemplateVariablesError,
} from '../../../src/domain/prompts/prompt.ts';
import { type IncludeSet, type PromptContent, templateContent } from '../../../src/domain/prompts/prompt-content.ts';

const content = (more: Partial<PromptContent>): PromptContent => ({ ...templateContent(''), template: null, ...more });

function detailsOf(fill: () => unknown) {
  try {
    fill();
  } catch (error) {
    if (error instanceof TemplateVariablesError) return error.details;
    throw error;
  }
  return undefined;
}

const include = (template: string, version = 1) => ({ name: 'x', version, template });

describe('messages', () => {
  const chat = content({
    messages: [
      { role: 'system', content: 'Answer {{ customer }} in {{ language }}.' },
      { placeholder: 'history', required: false },
      {
        role: 'user',
        content: [
          { type: 'text', text: '{{ question }} \\{{ question }}' },
          { type: 'file', media_type: 'image/png', variable: 'photo' },
        ],
      },
    ],
    inputs: { language: { type: 'string', default: 'English' }, tone: { type: 'string', required: false } },
  });

  test('their variables are named in order of appearance, and only declared ones at the end', () => {
    expect(parsePrompt(chat).names).toEqual(['customer', 'language', 'history', 'question', 'photo', 'tone']);
  });

  test('are filled in one pass', () => {
    const history: ChatMessage[] = [
      { role: 'user', content: '{{ question }}' },
      { role: 'assistant', content: [{ type: 'text', text: '{{> x }}' }] },
    ];
    const filled = parsePrompt(chat).fill({
      customer: '{{ language }}',
      history: JSON.parse(JSON.stringify(history)),
      question: 'What?',
      photo: { data: 'iVBORw0KGgo=', filename: 'a.png' },
    });
    expect(filled).toEqual([
      { role: 'system', content: 'Answer {{ language }} in English.' },
      ...history,
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What? {{ question }}' },
          { type: 'file', media_type: 'image/png', data: 'iVBORw0KGgo=', filename: 'a.png' },
        ],
      },
    ]);
  });

  test('of a request follow them; a template becomes the first', () => {
    const more: ChatMessage = { role: 'assistant', content: 'More.' };
    expect(parsePrompt(templateContent('Hi {{ x }}')).fill({ x: 1 }, [more])).toEqual([
      { role: 'user', content: 'Hi 1' },
      more,
    ]);
    expect(parsePrompt(content({ messages: [{ role: 'user', content: 'Hi' }] })).fill({}, [more])).toEqual([
      { role: 'user', content: 'Hi' },
      more,
    ]);
  });

  test.each<[string, Variables, string]>([
    ['not given', {}, 'variables.history'],
    ['no list', { history: 'Hello' }, 'variables.history'],
    ['a message without a role', { history: [{ content: 'x' }] }, 'variables.history.0.role'],
    [
      'a wrong part',
      { history: [{ role: 'user', content: [{ type: 'text' }] }] },
      'variables.history.0.content.0.text',
    ],
    [
      'invalid base64',
      { history: [{ role: 'user', content: [{ type: 'file', media_type: 'image/png', data: '?' }] }] },
      'variables.history.0.content.0.data',
    ],
    ['a placeholder', { history: [{ placeholder: 'x' }] }, 'variables.history.0.role'],
    [
      'a system message between a tool call and its result',
      {
        history: [
          { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'f', input: {} }] },
          { role: 'system', content: 'x' },
          { role: 'tool', content: [{ type: 'tool_result', id: 'a', name: 'f', output: 1 }] },
        ],
      },
      'variables.history.1',
    ],
    [
      'a tool result without its call',
      { history: [{ role: 'tool', content: [{ type: 'tool_result', id: 'a', name: 'f', output: 1 }] }] },
      'variables.history.0',
    ],
    [
      'a tool call without its result',
      { history: [{ role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'f', input: {} }] }] },
      'variables.history.0',
    ],
    [
      'a result before another message',
      {
        history: [
          { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'f', input: {} }] },
          { role: 'user', content: 'x' },
        ],
      },
      'variables.history.1',
    ],
  ])('a list that is %s is refused at its error', (_, variables, path) => {
    const prompt = parsePrompt(content({ messages: [{ role: 'user', content: 'x' }, { placeholder: 'history' }] }));
    expect(detailsOf(() => prompt.fill(variables))).toMatchObject([{ path }]);
    expect(prompt.faults(variables)).toMatchObject([{ path }]);
  });

  test('a tool round trip works', () => {
    const prompt = parsePrompt(content({ messages: [{ placeholder: 'history' }] }));
    const history: ChatMessage[] = [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: 'a', name: 'f', input: {} },
          { type: 'tool_call', id: 'b', name: 'g', input: {} },
        ],
      },
      { role: 'tool', content: [{ type: 'tool_result', id: 'b', name: 'g', output: null }] },
      { role: 'tool', content: [{ type: 'tool_result', id: 'a', name: 'f', output: [1] }] },
    ];
    expect(prompt.fill({ history: JSON.parse(JSON.stringify(history)) })).toEqual(history);
    expect(detailsOf(() => prompt.fill({ history: [] }))).toMatchObject([{ path: 'variables' }]);
  });

  test('are counted before they are built, with repeated content', () => {
    const twice = parsePrompt(content({ messages: [{ placeholder: 'history' }, { placeholder: 'history' }] }));
    const long = [{ role: 'user', content: 'x'.repeat(MAX_RENDERED_CHARS / 2) }];
    expect(detailsOf(() => twice.fill({ history: long }))).toMatchObject([{ path: 'variables' }]);
    const files = parsePrompt(
      content({
        messages: [{ role: 'user', content: Array(5).fill({ type: 'file', media_type: 'image/png', variable: 'f' }) }],
      }),
    );
    expect(detailsOf(() => files.fill({ f: { data: 'x'.repeat(MAX_RENDERED_CHARS / 4) } }))).toMatchObject([
      { path: 'variables' },
    ]);
  });
});

describe('inputs', () => {
  const prompt = parsePrompt(
    content({
      template: '{{ text }} {{ count }} {{ yes }} {{ any }} {{ free }}',
      inputs: {
        text: { type: 'string', enum: ['a', 'b'] },
        count: { type: 'number', default: 3 },
        yes: { type: 'boolean' },
        any: { type: 'json', required: false },
      },
    }),
  );

  test('have defaults, and can be omitted unless required', () => {
    expect(prompt.fill({ text: 'a', yes: false, free: [] })).toBe('a 3 false  []');
    expect(prompt.fill({ text: 'b', count: 0, yes: true, any: {}, free: 1 })).toBe('b 0 true {} 1');
  });

  test('name each variable that does not fit', () => {
    expect(prompt.faults({ text: 'c', count: '3', yes: 'true', any: null })).toEqual([
      { path: 'variables.text', message: 'must be one of "a", "b"' },
      { path: 'variables.count', message: 'must be a number' },
      { path: 'variables.yes', message: 'must be true or false' },
      { path: 'variables.any', message: expect.stringContaining('null') },
      { path: 'variables.free', message: expect.stringContaining('missing') },
    ]);
    expect(prompt.faults({}, 1)).toHaveLength(1);
  });
});

describe('includes', () => {
  test('are found without their spaces; an escaped one is text', () => {
    const text = '{{>a}} {{> b/c@3 }} {{>\tb@live}} \\{{> d }} {{> e f }} {{ > g }} {{> a }}';
    expect(includesOf(templateContent(text))).toEqual(['a', 'b/c@3', 'b@live']);
    expect(parsePrompt(templateContent('\\{{> d }}')).fill({})).toBe('{{> d }}');
  });

  test('are inserted, and their surroundings make no placeholder', () => {
    const includes: IncludeSet = {
      a: include('<{{ x }}{{> b@2 }}>'),
      'b@2': include('{{ y }} x }}', 2),
      c: include('{{'),
    };
    const prompt = parsePrompt(templateContent('{{ z }}{{> c }} {{> a }}{{> a }}'), includes);
    expect(prompt.names).toEqual(['z', 'x', 'y']);
    expect(prompt.fill({ x: '{{ y }}', y: 'Y', z: 'Z' })).toBe('Z{{ <{{ y }}Y x }}><{{ y }}Y x }}>');
    expect(includedVersions(includes)).toEqual([
      { name: 'x', version: 1 },
      { name: 'x', version: 2 },
    ]);
  });

  test('that multiply are counted before they are built', () => {
    const levels = (text: string) => {
      const includes: IncludeSet = { p5: include(text) };
      for (let level = 4; level >= 1; level -= 1) includes[`p${level}`] = include(`{{> p${level + 1} }}`.repeat(1000));
      return parsePrompt(templateContent('{{> p1 }}'.repeat(4500)), includes);
    };
    expect(detailsOf(() => levels('x').fill({}))).toMatchObject([{ path: 'variables' }]);
    expect(levels('').fill({})).toBe('');
    expect(levels('{{ a }}').fill({ a: '' })).toBe('');
  });
});
