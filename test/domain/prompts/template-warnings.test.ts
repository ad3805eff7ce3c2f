import { expect, test } from '@jest/globals';
import { foreignTags, templateWarnings } from '../../../src/domain/prompts/template-warnings.ts';

test.each<[string, string[]]>([
  ['{{ user.name }}', ['{{ user.name }}']],
  ['{{#if x}}yes{{else}}no{{/if}}', ['{{#if x}}', '{{/if}}']],
  ['{% for a in b %}{{ a }}{% endfor %}', ['{% for a in b %}', '{% endfor %}']],
  ['{{name|upper}} {{ name|upper }} {{name|upper}}', ['{{name|upper}}', '{{ name|upper }}']],
  ['{{{ html }}}', ['{{{ html }}}']],
  ['{# a note #}', ['{# a note #}']],
  [
    '{{ first-name }} {{ 1x }} {{ ünï }} {{ a b }} {{ f(x) }}',
    ['{{ first-name }}', '{{ 1x }}', '{{ ünï }}', '{{ a b }}', '{{ f(x) }}'],
  ],
  ['{{> part with=x }}', ['{{> part with=x }}']],
  ['{{ x\n}}', ['{{ x\n}}']],
  // The service's own tags, and text.
  ['{{ name }} {{name}} {{> support/tone@3 }} \\{{ name }} \\{{> tone }}', []],
  ['{"a": {"b": {}}} {{}} {{ }} {name} 100 % {#id} {{ open', []],
  ['function f() { return { a: { b: 1 } }; } \\frac{a}{b} {%', []],
])('%j', (text, tags) => {
  expect(foreignTags(text)).toEqual(tags);
});

test('each text has one warning, which names the first tags', () => {
  const warnings = templateWarnings({
    messages: [
      { role: 'system', content: '{{ a.b }} {{ c.d }} {{ e.f }} {{ g.h }} {{ i.j }}' },
      { placeholder: 'history' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'plain' },
          { type: 'text', text: `{{ ${'x.'.repeat(200)} }}` },
        ],
      },
    ],
  });
  expect(warnings).toEqual([
    { path: 'messages.0.content', message: expect.stringContaining('"{{ a.b }}", "{{ c.d }}"') },
    { path: 'messages.2.content.1.text', message: expect.stringMatching(/[.x]…"\. Only/) },
  ]);
  expect(warnings[0]?.message).toContain('and 2 more');
});

test('a text of the largest size is scanned quickly', () => {
  for (const unit of ['{{', '{%', '{#', '{{{', '{{ a', '{{ a.b }}'])
    expect(templateWarnings({ template: unit.repeat(60_000) }).length).toBeLessThanOrEqual(1);
});
