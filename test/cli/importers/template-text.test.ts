import { describe, expect, test } from '@jest/globals';
import { formatTemplate, parseTemplate, TemplateError, translate } from '../../../cli/src/importers/template-text.ts';
import { VariableNames } from '../../../cli/src/names.ts';
import { parsePrompt } from '../../../src/domain/prompts/prompt.ts';
import { templateContent } from '../../../src/domain/prompts/prompt-content.ts';
import { seeded } from './support.ts';

/** Fills a template like the service. */
const fill = (template: string, variables: Record<string, string>) =>
  parsePrompt(templateContent(template)).fill(variables);

const toTemplate = (text: string, syntax: 'mustache' | 'nunjucks' | 'f-string') =>
  translate(text, syntax, new VariableNames()).text;

describe('a template of another product', () => {
  test.each([
    ['mustache', 'Hi {{name}}, {{ name }}!', 'Hi {{ name }}, {{ name }}!'],
    ['mustache', 'JSON {"a": {"b": 1} } and { x }', 'JSON {"a": {"b": 1} } and { x }'],
    ['mustache', 'open {{ and nothing', 'open {{ and nothing'],
    ['mustache', '{% raw %} {# c #}', '{% raw %} {# c #}'],
    ['f-string', 'Hi {name}', 'Hi {{ name }}'],
    ['f-string', '{{"a": {name}}}', '{"a": {{ name }}}'],
    ['f-string', 'write {{{{ x }}}} as it is', 'write \\{{ x }} as it is'],
    ['f-string', '{{{name}}}', '{{{ name }}}'],
  ] as const)('%s: %s', (syntax, source, template) => {
    expect(toTemplate(source, syntax)).toBe(template);
  });

  test.each([
    ['mustache', '{{#a}}x{{/a}}', 'section'],
    ['mustache', '{{^a}}x{{/a}}', 'inverted'],
    ['mustache', '{{{a}}}', 'unescaped'],
    ['mustache', '{{>part}}', 'partial'],
    ['mustache', '{{!note}}', 'comment'],
    ['mustache', '{{}}', 'not a plain variable'],
    ['mustache', '\\{{a}}', 'backslash'],
    ['nunjucks', '{{ a | upper }}', 'not a plain variable'],
    ['nunjucks', '{{ a.b }}', 'looks into'],
    ['nunjucks', '{% if a %}', 'logic'],
    ['nunjucks', '{# a #}', 'logic'],
    ['f-string', '{a!r}', 'not a plain variable'],
    ['f-string', '{a:>10}', 'not a plain variable'],
    ['f-string', '{a[0]}', 'not a plain variable'],
    ['f-string', '{}', 'not a plain variable'],
    ['f-string', 'a } b', 'single'],
    ['f-string', 'a {b', 'not a plain variable'],
  ] as const)('that computes something is refused (%s: %s)', (syntax, source, why) => {
    expect(() => toTemplate(source, syntax)).toThrow(TemplateError);
    expect(() => toTemplate(source, syntax)).toThrow(why);
  });

  test('keeps its text when the service fills it, whatever is around it', () => {
    const random = seeded(11);
    const parts = ['{', '{{', '{{{', '}', '}}', '\\', ' ', 'a', '{{ a }}', '{{> a }}', '\\{{ b }}', '>', '\n'];
    for (let round = 0; round < 3_000; round += 1) {
      const pieces = Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
        random() < 0.4 ? { variable: random() < 0.5 ? 'x' : 'y' } : (parts[Math.floor(random() * parts.length)] ?? ''),
      );
      let template: string;
      try {
        template = formatTemplate(pieces);
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
        continue;
      }
      const meant = pieces
        .map((piece) => (typeof piece === 'string' ? piece : piece.variable === 'x' ? '1' : '2'))
        .join('');
      expect(fill(template, { x: '1', y: '2' })).toBe(meant);
      expect(formatTemplate(parseTemplate(template))).toBe(template);
    }
  });
});
