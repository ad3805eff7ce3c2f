import { describe, expect, test } from '@jest/globals';
import { MAX_RENDERED_CHARS } from '../../../src/domain/prompts/messages.ts';
import { parsePrompt, TemplateVariablesError } from '../../../src/domain/prompts/prompt.ts';
import { templateContent } from '../../../src/domain/prompts/prompt-content.ts';
import type { JsonValue } from '../../../src/domain/text/json.ts';

const render = (template: string, variables: Record<string, JsonValue>) =>
  parsePrompt(templateContent(template)).fill(variables);
const placeholders = (template: string) => parsePrompt(templateContent(template)).names;

const detailsOf = (template: string, variables: Record<string, JsonValue>) => {
  try {
    render(template, variables);
  } catch (error) {
    if (error instanceof TemplateVariablesError) return error.details;
    throw error;
  }
  return undefined;
};

test('placeholders are named once, in order of appearance', () => {
  expect(placeholders('{{ b }}{{a}}{{  b  }}{{\tc }}\\{{ d }}')).toEqual(['b', 'a', 'c']);
  expect(placeholders('no placeholder')).toEqual([]);
});

test.each<[string, string]>([
  ['{{x}}', 'V'],
  ['{{ x }}', 'V'],
  ['{{  x\t}}', 'V'],
  ['a{{ x }}{{ x }}b', 'aVVb'],
  ['{{{ x }}}', '{V}'],
  ['{{{{ x }}}}', '{{V}}'],
  ['\\{{ x }}', '{{ x }}'],
  ['\\{{x}}', '{{x}}'],
  ['\\\\{{ x }}', '\\{{ x }}'],
  ['\\ {{ x }}', '\\ V'],
  ['{{ }}', '{{ }}'],
  ['{{ 1x }}', '{{ 1x }}'],
  ['{{ x-y }}', '{{ x-y }}'],
  ['{{ x.y }}', '{{ x.y }}'],
  ['{{ x y }}', '{{ x y }}'],
  ['{{ x\n}}', '{{ x\n}}'],
  ['{ { x } }', '{ { x } }'],
  ['{ x }', '{ x }'],
  ['{% x %} %x% <x>', '{% x %} %x% <x>'],
  ['{{ x', '{{ x'],
  ['{{ é }}', '{{ é }}'],
])('%j renders as %j', (template, text) => {
  expect(render(template, { x: 'V' })).toBe(text);
});

test.each<[JsonValue, string]>([
  ['$& $1 $` $$', '$& $1 $` $$'],
  ['{{ x }} \\{{ x }} {{ y }}', '{{ x }} \\{{ x }} {{ y }}'],
  ['', ''],
  [0, '0'],
  [-1.5, '-1.5'],
  [1e21, '1e+21'],
  [true, 'true'],
  [false, 'false'],
  [[1, 'a', null, { b: [] }], '[1,"a",null,{"b":[]}]'],
  [{}, '{}'],
  ['\u{1f642}', '\u{1f642}'],
])('the value %j is put in as %j, and not expanded again', (value, text) => {
  expect(render('<{{ x }}>', { x: value, y: 'no' })).toBe(`<${text}>`);
});

describe('names of prototypes', () => {
  test('are ordinary names', () => {
    const variables: Record<string, JsonValue> = JSON.parse('{"constructor":"c","toString":"t","__proto__":"p"}');
    expect(render('{{ constructor }}{{ toString }}{{ __proto__ }}', variables)).toBe('ctp');
  });

  test('are missing if they were not given', () => {
    expect(detailsOf('{{ constructor }}{{ toString }}{{ __proto__ }}', {})?.map(({ path }) => path)).toEqual([
      'variables.constructor',
      'variables.toString',
      'variables.__proto__',
    ]);
  });
});

test('every missing and null variable is named at once; extra ones are ignored', () => {
  expect(detailsOf('{{ a }}{{ b }}{{ c }}{{ a }}', { b: null, c: 1, d: null })).toEqual([
    { path: 'variables.a', message: expect.stringContaining('missing') },
    { path: 'variables.b', message: expect.stringContaining('null') },
  ]);
});

test('a filled template has a maximum length, checked before it is built', () => {
  const half = 'x'.repeat(MAX_RENDERED_CHARS / 2);
  expect(render('{{ x }}{{ x }}', { x: half })).toHaveLength(MAX_RENDERED_CHARS);
  expect(render('\\{{ y }}{{ x }}', { x: 'x'.repeat(MAX_RENDERED_CHARS - 7) })).toHaveLength(MAX_RENDERED_CHARS);
  expect(detailsOf('{{ x }}{{ x }}.', { x: half })).toMatchObject([{ path: 'variables' }]);
  expect(detailsOf('{{ x }}'.repeat(50_000), { x: 'x'.repeat(1_000_000) })).toMatchObject([{ path: 'variables' }]);
});

test('hostile templates are read to their end', () => {
  for (const piece of ['{', '{{', '{{ ', '{{ x', '\\', '\\{{', '}}', '{{ x }', ' ', '{{ \t']) {
    const template = piece.repeat(Math.ceil(262_144 / piece.length));
    placeholders(template);
    expect(render(template, { x: 'x' })).toEqual(expect.any(String));
  }
});
