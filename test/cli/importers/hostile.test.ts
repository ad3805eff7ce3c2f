import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { formatReportLine, Report } from '../../../cli/src/importers/report.ts';
import { planFiles, withFolder } from './support.ts';

const KEYS = 'abcdefghijklmnopqrstuvwxyz'.split('');
/** A few hundred bytes that expand to 2²⁶ values. */
const YAML_BOMB = KEYS.map(
  (key, at) => `${key}: &${key} [${at === 0 ? 'x, x' : `*${KEYS[at - 1]}, *${KEYS[at - 1]}`}]`,
).join('\n');

describe('hostile files', () => {
  test.each([
    ['promptfoo', 'promptfooconfig.yaml', YAML_BOMB, 'aliases that multiply'],
    ['promptfoo', 'promptfooconfig.yaml', 'prompts: [a\n', 'promptfooconfig.yaml:2: is not valid YAML'],
    ['promptfoo', 'promptfooconfig.yaml', '- a\n', 'is not a configuration'],
    ['promptfoo', 'promptfooconfig.json', `{"prompts": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'nested deeper'],
    ['langfuse', 'a.json', '{', 'a.json: is not valid JSON'],
    ['langfuse', 'a.json', '"text"', 'is not a response of'],
    ['langfuse', 'a.json', '{"name": "x"}', 'is neither a prompt'],
    ['langfuse', 'a.json', '['.repeat(200_000) + ']'.repeat(200_000), 'nested deeper'],
    ['openai-evals', 'a.json', '{"a": 1}', 'is neither an eval'],
    ['langsmith', 'a.json', '{"a": 1}', 'no manifest'],
    ['humanloop', 'a.json', '{"a": 1}', 'is neither a prompt'],
    ['pms', 'workspace.json', '{"format": "pms-export/1"}', 'exported_at is required'],
    ['langfuse', 'a.txt', 'x', 'no files ending in'],
  ])('%s, %s: are refused in one line', async (source, name, content, message) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, name), content);
      await expect(planFiles(source, folder)).rejects.toThrow(message);
    });
  });

  test('no file outside the folder is read, by any path or link', async () => {
    await withFolder(async (folder) => {
      const inside = path.join(folder, 'inside');
      await mkdir(inside);
      await writeFile(path.join(folder, 'secret.txt'), 'secret');
      await symlink(path.join(folder, 'secret.txt'), path.join(inside, 'link.txt'));
      const prompts = ['file://../secret.txt', `file://${folder}/secret.txt`, 'file://link.txt'];
      const config = {
        prompts,
        providers: ['openai:gpt-5'],
        tests: 'file://../secret.csv',
        defaultTest: 'file:///etc/hosts.yaml',
      };
      await writeFile(path.join(inside, 'promptfooconfig.json'), JSON.stringify(config));
      const { report, steps } = await planFiles('promptfoo', inside);
      expect(steps).toEqual([]);
      expect(report.filter((line) => line.includes('there is no such'))).toHaveLength(5);
    });
  });

  test('binary bytes, names of objects, and values that no service keeps', async () => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'a.json'), Buffer.from([0x7b, 0xff, 0x7d]));
      await expect(planFiles('langfuse', folder)).rejects.toThrow('a.json: is not valid UTF-8');
      const prompt = (name: string, text: string, config: string) =>
        `{"name": ${JSON.stringify(name)}, "version": 1, "type": "text", "prompt": ${text}, "config": ${config}, "labels": ["__proto__"], "tags": []}`;
      const prompts = [
        prompt('__proto__', '"hi {{constructor}} {{__proto__}}"', '{"model": "m"}'),
        prompt('constructor', '"nul \\u0000"', '{"model": "m"}'),
        prompt('toString', '"half \\ud800"', '{"model": "m"}'),
        prompt('valueOf', '"x"', '{"model": "m", "__proto__": {"a": 1}}'),
        prompt('large', JSON.stringify('x'.repeat(300_000)), '{"model": "m"}'),
        prompt('model', '"x"', '{"model": "two words"}'),
      ];
      await writeFile(path.join(folder, 'a.json'), `[${prompts.join(',')}]`);
      const { report, steps } = await planFiles('langfuse', folder);
      expect(steps.filter(({ kind }) => kind === 'version').map((step) => 'name' in step && step.name)).toEqual([
        '__proto__',
      ]);
      expect(report.slice(1)).toEqual([
        expect.stringContaining('template must not contain NUL'),
        expect.stringContaining('template must not contain NUL or an unpaired surrogate'),
        expect.stringContaining('__proto__'),
        expect.stringContaining('template must be at most 262144 bytes'),
        expect.stringContaining('model must be visible ASCII'),
      ]);
    });
  });

  test('reports cannot control terminals', () => {
    const report = new Report();
    report.leaveOut('prompt', 'a\u001b[2Jb\nprompt c', 'because\u0007');
    expect(report.lines.map(formatReportLine)).toEqual(['prompt a\\u001b[2Jb\\nprompt c: left out: because\\u0007']);
  });

  test.each([
    ['a row of 3 MiB', `q\n"${'x'.repeat(3 * 1024 * 1024)}"\n`, 'rows.csv:2: is not valid CSV'],
    ['a quote that is not closed', 'q\n"a\n', 'rows.csv:2: is not valid CSV'],
    ['a row with too many cells', 'q\na\nb,c\n', 'rows.csv:3: is not valid CSV'],
    ['two columns with one name', 'q,q\na,b\n', 'two columns'],
  ])('a CSV file with %s is refused with its line', async (_, csv, message) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'rows.csv'), csv);
      await expect(planFiles('langsmith', folder)).rejects.toThrow(message);
    });
  });

  test('an invalid or too long line of JSON is refused with its number', async () => {
    await withFolder(async (folder) => {
      await writeFile(
        path.join(folder, 'a.jsonl'),
        `{"inputs": {"a": 1}}\r\n\r\n{"inputs": "${'x'.repeat(3 * 1024 * 1024)}"}`,
      );
      await expect(planFiles('langsmith', folder)).rejects.toThrow('a.jsonl:3: is longer than');
      await writeFile(path.join(folder, 'a.jsonl'), '{"inputs": {"a": 1}}\nnope\n');
      await expect(planFiles('langsmith', folder)).rejects.toThrow('a.jsonl:2: is not valid JSON');
    });
  });
});

describe('a file larger than the memory', () => {
  const MIB = 1024 * 1024;
  const bytes = process.env['FAULTS_AT_FULL_SIZE'] === 'true' ? 256 * MIB : 28 * MIB;

  async function* rows(heading: string, row: (index: number) => string): AsyncGenerator<string, void, undefined> {
    yield heading;
    for (let written = 0, index = 0; written < bytes; ) {
      let chunk = '';
      while (chunk.length < 256 * 1024) {
        chunk += row(index);
        index += 1;
      }
      written += chunk.length;
      yield chunk;
    }
  }

  test.each([
    [
      'promptfoo',
      'tests.csv',
      'question,__expected\n',
      (index: number) => `"Question ${index}, ${'word '.repeat(80)}",contains: ${index}\n`,
    ],
    [
      'langsmith',
      'cases.jsonl',
      '',
      (index: number) => `{"inputs": {"question": "${'word '.repeat(80)}"}, "outputs": {"answer": "${index}"}}\n`,
    ],
  ])('is read row by row (%s, %s)', async (source, name, heading, row) => {
    await withFolder(async (folder) => {
      await pipeline(rows(heading, row), createWriteStream(path.join(folder, name)));
      const config = { prompts: ['{{question}}'], providers: ['openai:gpt-5'], tests: `file://${name}` };
      await writeFile(
        path.join(folder, source === 'promptfoo' ? 'promptfooconfig.json' : 'ignored.txt'),
        JSON.stringify(config),
      );
      const program = fileURLToPath(new URL('read-large.ts', import.meta.url));
      // The heap is smaller than the file.
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--max-old-space-size=24',
        program,
        source,
        folder,
      ]);
      const { examples, report } = JSON.parse(stdout);
      expect(examples).toBeGreaterThan(bytes / 800);
      expect(JSON.stringify(report).length).toBeLessThan(2_000);
    });
  });
});

test.each([
  ['dotprompt', 'a.prompt', `---\nmodel: m\n---\n${'\\'.repeat(400_000)}`],
  ['dotprompt', 'a.prompt', `---\nmodel: m\n---\n${'{{!--'.repeat(100_000)}`],
  ['dotprompt', 'a.prompt', `---\nmodel: m\n---\n${'{{!}}'.repeat(50_000)}`],
  ['dotprompt', 'a.prompt', `${'#\n'.repeat(200_000)}---`],
  ['prompty', 'a.prompty', `---\nmodel: {api: chat, configuration: {name: m}}\n---\n${'![](x'.repeat(100_000)}`],
  ['prompty', 'a.prompty', `---\nmodel: m\n---\n${' '.repeat(400_000)}x\n${'\n'.repeat(400_000)}x`],
  ['github', 'a.prompt.yml', `model: m\nmessages: [{role: user, content: "${'{{ '.repeat(150_000)}"}]`],
  ['github', 'a.prompt.yml', YAML_BOMB],
])('no file of %s takes long: %#', async (source, name, content) => {
  await withFolder(async (folder) => {
    await writeFile(path.join(folder, name), content);
    const began = performance.now();
    await planFiles(source, folder).catch(() => undefined);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
