import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ownBlocks } from '../support/guides.ts';
import { PROJECT } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { claimsOf } from './claims.ts';

const own = ownBlocks(claimsOf('test/docs/skill.test.ts'));
const FOLDER = path.join(PROJECT, 'skills/prompt-management');
let service: TestService;
let project: string;
beforeAll(async () => {
  service = await startTestService();
  project = await mkdtemp(path.join(tmpdir(), 'skill-'));
});
afterAll(async () => {
  await service?.stop();
  await rm(project, { recursive: true, force: true });
});

/** A program with a prompt in its code, with the client and the command installed. */
async function writeProject(): Promise<void> {
  await mkdir(path.join(project, 'src'));
  await writeFile(path.join(project, 'package.json'), '{"name": "sample", "private": true, "type": "module"}');
  await writeFile(
    path.join(project, 'src/capital.js'),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the program
    'export const capitalPrompt = (country) => `What is the capital of ${country}?`;\n',
  );
  await symlink(path.join(PROJECT, 'node_modules'), path.join(project, 'node_modules'));
}

test('an agent that finds the skill learns its purpose', async () => {
  const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(await readFile(path.join(FOLDER, 'SKILL.md'), 'utf8')) ?? [];
  expect(/^name: (.*)$/m.exec(head)?.[1]).toBe(path.basename(FOLDER));
  expect(/^description: (.*)$/m.exec(head)?.[1]?.length).toBeLessThanOrEqual(1024);
});

test('its commands, in order, move a prompt out of a program, gate a change and release it', async () => {
  await writeProject();
  const blocks = own.take({ page: 'skills/prompt-management/SKILL.md' });
  const [installing, ...others] = blocks.map(({ code }) => code);
  expect(installing).toContain('npm install');
  expect(others.length).toBeGreaterThan(12);
  const { stdout, stderr } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', others.join('')], {
    cwd: project,
    env: {
      PATH: `${path.join(PROJECT, 'node_modules/.bin')}:${process.env['PATH']}`,
      PMS_BASE_URL: service.origin,
      PMS_API_KEY: service.key,
      PMS_CONFIG_DIR: path.join(project, '.config'),
      NODE_OPTIONS: '--conditions=pms-source',
      HOME: project,
    },
  });
  expect(stderr).toContain('failed: The score 0.0000 is below the threshold');
  expect(stdout).toContain('succeeded');
  const live = (await service.call('GET', '/prompts/geo/capital?label=production')).body;
  // Neither the rejected change nor the drafts have become versions.
  expect(live).toMatchObject({
    version: 2,
    template: 'What is the capital of {{ country }}?',
    parameters: { max_tokens: 100 },
  });
  expect(await readFile(path.join(project, 'src/capital.js'), 'utf8')).toContain("label: 'production'");
  expect(await readFile(path.join(project, 'evals/before.txt'), 'utf8')).toBe(
    'What is the capital of France?\nWhat is the capital of Japan?\n',
  );
});
