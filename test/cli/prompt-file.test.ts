import { describe, expect, test } from '@jest/globals';
import { formatPromptFile, type PromptFile, PromptFileError, parsePromptFile } from '../../cli/src/prompt-file.ts';
import type { JsonValue } from '../../src/domain/text/json.ts';
import { seeded } from './importers/support.ts';

const minimal = { name: 'support/greeting', model: 'gpt-5-mini', fallback_models: [], parameters: {} };

function errorOf(text: string): PromptFileError {
  try {
    parsePromptFile(text, 'greeting.yaml');
  } catch (error) {
    if (error instanceof PromptFileError) return error;
    throw error;
  }
  throw new Error('The file was accepted.');
}

const roundTrip = (prompt: PromptFile) => parsePromptFile(formatPromptFile(prompt), 'greeting.yaml').prompt;

describe('a prompt file', () => {
  test('has its fields in a fixed order, and texts of several lines as block scalars', () => {
    const prompt: PromptFile = {
      ...minimal,
      parameters: { temperature: 0.2 },
      description: 'Greets',
      template: 'Hello {{ name }},\n\nhow are you?\n',
      version: 3,
    };
    expect(formatPromptFile(prompt)).toBe(
      [
        'name: support/greeting',
        'version: 3',
        'description: Greets',
        'model: gpt-5-mini',
        'template: |',
        '  Hello {{ name }},',
        '',
        '  how are you?',
        'parameters:',
        '  temperature: 0.2',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['trailing spaces', 'a  \nb \n  '],
    ['spaces in front', '  a\n b\n'],
    ['carriage returns', 'a\r\nb\rc\n'],
    ['line ends at the end', 'a\n\n\n'],
    ['only a line end', '\n'],
    ['nothing', ''],
    ['a tab in front', '\ta\n\tb'],
    ['unicode', 'Grüße 👋\u2028日本語\u0085x\ufeff'],
    ['control characters', 'a\u0001b\u007f\nc'],
    ['what YAML takes for something else', 'no'],
    ['a number', '1.10'],
    ['a document mark', '---\nname: x\n...\n'],
    ['a comment', '# not a comment\n#\n'],
    ['a long line', `${'word '.repeat(200)}\nend`],
    ['placeholders', '{{ a }} {{> b@3 }} \\{{ c }}'],
  ])('keeps a text with %s', (_, template) => {
    expect(roundTrip({ ...minimal, template })).toEqual({ ...minimal, template });
  });

  test('keeps messages, tools, inputs and config, empty ones too', () => {
    const prompt: PromptFile = {
      ...minimal,
      fallback_models: ['openai/gpt-5'],
      messages: [
        { role: 'system', content: 'Be\nkind  ' },
        { placeholder: 'history', required: false },
        {
          role: 'user',
          content: [
            { type: 'text', text: '{{ q }}' },
            { type: 'file', media_type: 'image/png', variable: 'photo' },
          ],
        },
      ],
      tools: [],
      inputs: { q: { type: 'string', default: 'x\r\n', enum: ['x\r\n', 'y'] } },
      parameters: {
        stop: ['\n\n'],
        response_format: { type: 'json_schema', json_schema: { name: 'r', schema: { type: 'object' } } },
      },
      config: { deep: { list: [1, null, true, '', { 'a key: with #': -0.5e-7 }] }, '': 'empty', 'two\nlines': 1 },
      commit_message: 'Why\nnot',
    };
    expect(roundTrip(prompt)).toEqual(prompt);
  });

  test('keeps whatever a version can hold', () => {
    const random = seeded(7);
    const alphabet = [
      ' ',
      ' ',
      '\n',
      '\n',
      '\r',
      '\t',
      'a',
      'é',
      '👋',
      '"',
      "'",
      ':',
      '#',
      '-',
      '|',
      '>',
      '{',
      '}',
      '[',
      ',',
      '&',
      '*',
      '!',
      '%',
      '@',
      '`',
      '\\',
      '\u0085',
      '\u00a0',
      '\u2029',
    ];
    const text = () =>
      Array.from({ length: Math.floor(random() * 24) }, () => alphabet[Math.floor(random() * alphabet.length)]).join(
        '',
      );
    const value = (depth: number): JsonValue => {
      const kind = Math.floor(random() * (depth > 3 ? 4 : 6));
      if (kind === 0) return text();
      if (kind === 1) return Math.round((random() - 0.5) * 1e9) / 10 ** Math.floor(random() * 9) + 0;
      if (kind === 2) return random() < 0.5;
      if (kind === 3) return null;
      const items = Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1));
      return kind === 4 ? items : Object.fromEntries(items.map((item) => [text(), item]));
    };
    for (let round = 0; round < 500; round += 1) {
      const content =
        random() < 0.5 ? { template: text() } : { messages: [{ role: 'user' as const, content: text() }] };
      const prompt: PromptFile = { ...minimal, ...content, description: text(), config: { value: value(0) } };
      expect(roundTrip(prompt)).toEqual(JSON.parse(JSON.stringify(prompt)));
    }
  });

  test('keeps as much as a version can hold, counted like the service', () => {
    const template = '"\n'.repeat(128 * 1024);
    expect(roundTrip({ ...minimal, template })).toEqual({ ...minimal, template });
    expect(() => formatPromptFile({ ...minimal, template, config: { a: 1 } })).toThrow(
      'makes the version 262151 bytes long',
    );
    expect(() => formatPromptFile({ ...minimal, template: `${template}x` })).toThrow(
      'template must be at most 262144 bytes',
    );
  });

  test('keeps numbers', () => {
    const config = {
      numbers: [0, -1.5, 1e21, 1e-7, 2 ** 53, 123_456_789_012_345_680_000, Number.MAX_VALUE, Number.MIN_VALUE],
    };
    expect(roundTrip({ ...minimal, template: '', config })).toEqual({ ...minimal, template: '', config });
  });

  test('means the same with Windows line ends', () => {
    const text = formatPromptFile({ ...minimal, template: 'one\ntwo\n' }).replaceAll('\n', '\r\n');
    expect(parsePromptFile(text, 'greeting.yaml').prompt.template).toBe('one\ntwo\n');
  });

  test('finds the line of a field, for messages of the service', () => {
    const { lineOf } = parsePromptFile(
      'name: a\nmodel: gpt-5\nmessages:\n  - role: user\n    content: hi\n  - role: user\n    content:\n      - type: text\n        text: x\n',
      'a.yaml',
    );
    expect([lineOf('model'), lineOf('messages.1.content.0.text'), lineOf('messages.7'), lineOf('tools')]).toEqual([
      2, 9, 3, 1,
    ]);
  });
});

describe('a file that is not a prompt is refused with its line and field', () => {
  test.each([
    ['an unknown field', 'name: a\nmodel: m\ntemplate: x\ntemprature: 1\n', 4, 'temprature', 'is not a known field'],
    [
      'an unknown parameter',
      'name: a\nmodel: m\ntemplate: x\nparameters:\n  temp: 1\n',
      5,
      'parameters.temp',
      'is not a known field',
    ],
    [
      'a number out of range',
      'name: a\nmodel: m\ntemplate: x\nparameters:\n  temperature: 9\n',
      5,
      'parameters.temperature',
      'at most 2',
    ],
    ['a text that YAML reads as a number', 'name: a\nmodel: m\ntemplate: 1.10\n', 3, 'template', 'must be a string'],
    ['no model', 'name: a\ntemplate: x\n', 1, 'model', 'is required'],
    ['neither template nor messages', 'name: a\nmodel: m\n', 1, 'template', 'is required'],
    [
      'both',
      'name: a\nmodel: m\ntemplate: x\nmessages:\n  - role: user\n    content: x\n',
      4,
      'messages',
      'cannot be combined with',
    ],
    ['a bad name', 'name: a//b\nmodel: m\ntemplate: x\n', 1, 'name', 'hold "//"'],
    [
      'a role that there is not',
      'name: a\nmodel: m\nmessages:\n  - role: robot\n    content: x\n',
      4,
      'messages.0.role',
      'must be system',
    ],
    [
      'an invalid part',
      'name: a\nmodel: m\nmessages:\n  - role: user\n    content:\n      - type: text\n        txt: x\n',
      6,
      'messages.0.content.0.text',
      '',
    ],
    ['a field twice', 'name: a\nmodel: m\ntemplate: x\nmodel: n\n', 4, '', 'unique'],
    ['broken YAML', 'name: a\nmodel: "m\n', 3, '', 'not valid YAML'],
    ['a list', '- a\n', 1, '', 'must be a mapping'],
    ['nothing', '', 1, '', 'must be a mapping'],
    ['NUL', 'name: a\nmodel: m\ntemplate: "a\\0b"\n', 3, 'template', 'NUL'],
    ['half a character', 'name: a\nmodel: m\ntemplate: "\\uD800"\n', 3, 'template', ''],
    ['infinity', 'name: a\nmodel: m\ntemplate: x\nconfig:\n  a: .inf\n', 5, 'config.a', 'out of range'],
    [
      'a tool whose input is no object',
      'name: a\nmodel: m\ntemplate: x\ntools:\n  - name: t\n    input_schema:\n      type: string\n',
      7,
      'tools.0.input_schema.type',
      'must be "object"',
    ],
    ['an alias', 'name: a\nmodel: &m x\ntemplate: *m\n', 1, '', 'alias'],
    ['several documents', 'name: a\nmodel: m\ntemplate: x\n---\nname: b\n', 4, '', 'not valid YAML'],
    ['a tag', 'name: a\nmodel: m\ntemplate: !!js/function "x"\n', 3, '', ''],
  ])('%s', (_, text, line, field, message) => {
    const error = errorOf(text);
    expect({ line: error.line, field: error.field }).toEqual({ line, field });
    expect(error.message).toContain(message);
    expect(error.message.startsWith(`greeting.yaml:${line}: `)).toBe(true);
  });

  test('aliases that multiply', () => {
    const bomb = [
      'a: &a [x, x]',
      ...'bcdefghijklmnopqrst'
        .split('')
        .map((key, at) => `${key}: &${key} [*${'abcdefghijklmnopqrst'[at]}, *${'abcdefghijklmnopqrst'[at]}]`),
    ];
    expect(errorOf(bomb.join('\n')).message).toContain('alias');
  });

  test('NUL is not written either', () => {
    expect(() => formatPromptFile({ ...minimal, template: 'a\0b' })).toThrow(PromptFileError);
  });
});
