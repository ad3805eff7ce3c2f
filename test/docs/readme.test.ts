import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

/** What a reader pastes into a terminal: the blocks that call the API. */
const commands = [...readme.matchAll(/^```sh\n(curl [\s\S]*?)^```$/gm)].map(([, block = '']) => block);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

/** Runs a block in a shell in which `API` and `AUTH` are set, as the README has its reader do. */
function run(block: string): Promise<{ code: number | null; output: string }> {
  const env = { PATH: process.env['PATH'], API: `${service.origin}/v1`, AUTH: `Authorization: Bearer ${service.key}` };
  const script = block.replaceAll('curl -s', 'curl -sS -w "\\n"');
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    shell.once('error', reject);
    shell.once('close', (code) => resolve({ code, output }));
  });
}

/** What a command prints is JSON, a response a line, or a stream of server-sent events. */
function responsesIn(output: string): string[] {
  const lines = output.trim().split('\n');
  if (!output.startsWith('id: ')) return lines;
  return lines.flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));
}

test('the commands of the README work one after the other', async () => {
  expect(commands.length).toBeGreaterThan(5);
  for (const block of commands) {
    const { code, output } = await run(block);
    expect({ block, code, output }).toMatchObject({ code: 0 });
    for (const text of responsesIn(output)) {
      const response = JSON.parse(text);
      expect(response).toBeInstanceOf(Object);
      expect(response.error ?? null).toBeNull();
    }
  }
  const { body } = await service.call('GET', '/executions?prompt_name=support/greeting');
  expect(body.data.map((execution: { output: string }) => execution.output)).toEqual([
    'Greet Ada warmly in one sentence.',
    'Greet Ada warmly in one sentence.',
    'Greet Ada warmly in one sentence.',
    'Greet Ada in one sentence.',
  ]);
});

test('links of the documents lead to files and headings that exist', () => {
  for (const file of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]) {
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [to = '', heading] = target.split('#');
      const linked = to === '' ? path.join(root, file) : path.join(root, path.dirname(file), to);
      expect({ file, target, exists: existsSync(linked) }).toEqual({ file, target, exists: true });
      if (heading === undefined) continue;
      const anchors = [...readFileSync(linked, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
      expect({ file, target, anchors }).toEqual({ file, target, anchors: expect.arrayContaining([heading]) });
    }
  }
});
