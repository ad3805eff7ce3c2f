import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseDocument } from 'yaml';
import { readSource } from '../../cli/src/importers/import-source.ts';
import { importSettings } from '../../cli/src/importers/settings.ts';
import { parseJson, parseYaml } from '../../cli/src/importers/source-files.ts';
import { parseExactly } from '../../cli/src/long-numbers.ts';
import { readObject } from '../../cli/src/object-file.ts';
import { parsePromptFile } from '../../cli/src/prompt-file.ts';
import { requireExactNumbers } from '../../cli/src/yaml-numbers.ts';
import { withFolder } from './importers/support.ts';

const LONG = '12345678901234567890';
const RULE = 'has more digits than a number can keep: write it as a string';

describe('a number that would lose digits is refused by its place', () => {
  test('in JSON', () => {
    expect(() => parseExactly(`{"a": {"b": [1, ${LONG}]}}`)).toThrow(`"a.b.1" ${RULE}`);
    expect(() => parseExactly(LONG)).toThrow(`it ${RULE}`);
    expect(parseExactly(`{"a": "${LONG}", "b": 9007199254740991, "c": 0.1}`)).toEqual({
      a: LONG,
      b: 9007199254740991,
      c: 0.1,
    });
    expect(() => parseExactly('{"a": ')).toThrow(SyntaxError);
    expect(() => parseJson(`{"id": ${LONG}}`, 'runs.jsonl:3')).toThrow(`runs.jsonl:3: "id" ${RULE}`);
  });

  test.each([
    ['a: {b: [1, 0.1234567890123456789]}', 'a.b.1'],
    [`list:\n  - x: 1\n  - x: ${LONG}\n`, 'list.1.x'],
    [`- ${LONG}`, '0'],
    ['big: 0x1fffffffffffff1', 'big'],
    ['big: +12345678901234567890', 'big'],
  ])('in YAML: %s', (text, place) => {
    expect(() => requireExactNumbers(parseDocument(text))).toThrow(`"${place}" ${RULE}`);
    expect(() => parseYaml(text, 'file.yaml')).toThrow(`file.yaml: "${place}" ${RULE}`);
  });

  test.each([`a: "${LONG}"`, 'a: 1e3\nb: .5\nc: .inf\nd: .nan\ne: 1_000\nf: 9007199254740991', `${LONG}: a`])(
    'but not values that do: %s',
    (text) => {
      expect(parseYaml(text, 'file.yaml')).toEqual(parse(text));
    },
  );

  test('in a file of variables, as YAML and as JSON', async () => {
    await withFolder(async (folder) => {
      for (const name of ['vars.yaml', 'vars.json']) {
        const file = path.join(folder, name);
        await writeFile(file, `{"order": {"id": ${LONG}}}`);
        await expect(readObject(file, ' of variables')).rejects.toThrow(`${file}: "order.id" ${RULE}`);
        await writeFile(file, `{"order": {"id": "${LONG}"}}`);
        expect(await readObject(file, ' of variables')).toEqual({ order: { id: LONG } });
      }
    });
  });

  test('in imports; a table cell keeps them as text', async () => {
    await withFolder(async (folder) => {
      const file = path.join(folder, 'promptfooconfig.json');
      const tests = `[{"vars": {"x": {"id": ${LONG}}}}]`;
      await writeFile(file, `{"prompts": ["{{x}}"], "providers": ["echo"], "tests": ${tests}}`);
      await expect(readSource('promptfoo', file, importSettings())).rejects.toThrow(`"tests.0.vars.x.id" ${RULE}`);

      const rows = path.join(folder, 'rows.csv');
      await writeFile(rows, `id,input,expected\n1,"{""id"": ${LONG}}",yes\n`);
      const imported = await readSource('braintrust', rows, importSettings('sandbox/echo'));
      const [dataset] = imported.datasets;
      const examples = await Array.fromAsync(dataset?.read(() => {}) ?? []);
      expect(JSON.stringify(examples)).toContain(LONG);
    });
  });
});

test('a prompt file with such a number is refused by its line', () => {
  const text = `name: a\nmodel: sandbox/echo\ntemplate: Hi\nconfig:\n  id: ${LONG}\n`;
  expect(() => parsePromptFile(text, 'a.yaml')).toThrow(/^a\.yaml:5.*config\.id.*has more digits/);
});
