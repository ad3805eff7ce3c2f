import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { run } from '../../scripts/python.ts';

const script = fileURLToPath(new URL('../../scripts/check-secrets.ts', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'pms-secrets-test-'));
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  mkdirSync(path.join(folder, 'src'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const check = (...args: string[]) => run(process.execPath, [script, ...args, folder]);

// Generated at run time, so that this file contains none.
const token = () => randomBytes(27).toString('base64url').replaceAll(/[-_]/g, 'x');
test.each([
  ['a key of this service', () => `pms_${randomBytes(32).toString('base64url')}`, 'pms-api-key'],
  ['a token of GitHub', () => `ghp_${token()}`, 'github-pat'],
  [
    'a private key',
    () => `-----BEGIN PRIVATE KEY-----\n${randomBytes(96).toString('base64')}\n-----END PRIVATE KEY-----`,
    'private-key',
  ],
])('%s in an uncommitted file is found, and not shown', async (_, create, rule) => {
  writeFileSync(path.join(folder, 'src/settings.ts'), 'export const answer = 42;\n');
  expect(await check()).toMatchObject({ code: 0 });
  const secret = create();
  writeFileSync(path.join(folder, 'src/settings.ts'), `export const key = \`${secret}\`;\n`);
  const { code, output } = await check();
  expect(code).toBe(1);
  expect(output).toContain(rule);
  expect(output).toContain('src/settings.ts');
  expect(output).not.toContain(secret);
});

test('files that git ignores are not searched; past commits are on demand', async () => {
  const secret = `pms_${randomBytes(32).toString('base64url')}`;
  writeFileSync(path.join(folder, '.gitignore'), '.env\n');
  writeFileSync(path.join(folder, '.env'), `KEY=${secret}\n`);
  expect(await check('--history')).toMatchObject({ code: 0 });

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: folder });
  writeFileSync(path.join(folder, 'key.txt'), `${secret}\n`);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A key');
  git('rm', '--quiet', 'key.txt');
  git('commit', '--quiet', '--message', 'No key');
  expect(await check()).toMatchObject({ code: 0 });
  expect(await check('--history')).toMatchObject({ code: 1, output: expect.stringContaining('key.txt') });
});
