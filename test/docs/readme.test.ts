import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** What a reader pastes into a terminal: the blocks that call the API. */
const commandsOf = (page: string) =>
  [...read(page).matchAll(/^```sh\n(curl [\s\S]*?)^```$/gm)].map(([, block = '']) => block);

/** Pages whose commands work one after the other, in a new workspace. */
const PAGES = ['README.md', 'docs/prompts.md', 'docs/executions.md', 'docs/evaluations.md'];

/** Runs a block in a shell in which `API` and `AUTH` are set, as the pages have their readers do. */
function run(service: TestService, block: string): Promise<{ code: number | null; output: string }> {
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

test.each(PAGES)('the commands of %s work one after the other', async (page) => {
  const commands = commandsOf(page);
  expect(commands.length).toBeGreaterThan(2);
  const service = await startTestService();
  try {
    for (const block of commands) {
      const { code, output } = await run(service, block);
      expect({ block, code, output }).toMatchObject({ code: 0 });
      for (const text of responsesIn(output)) {
        const response = JSON.parse(text);
        expect(response).toBeInstanceOf(Object);
        expect(response.error ?? null).toBeNull();
      }
    }
    if (page !== 'docs/prompts.md') return;
    const { body } = await service.call('GET', '/executions?prompt_name=support/greeting');
    expect(body.data[0].output).toBe('Greet Ada warmly in one sentence.');
  } finally {
    await service.stop();
  }
});

test('the README fits into 10 kB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(10_000);
});

test('links of the documents lead to files and headings that exist', () => {
  for (const file of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]) {
    const text = read(file);
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
