import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKey, createOtherWorkspace } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { atTerminal, type Cli, startCli } from './support.ts';

let service: TestService;
let other: { key: string };
let cli: Cli;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  other = await createOtherWorkspace(service, 'other');
});
afterAll(() => service?.stop());
beforeEach(async () => {
  cli = await startCli();
});
afterEach(() => cli?.remove());

const file = () => path.join(cli.folder, '.config', 'credentials.json');
const login = (key: string, ...args: string[]) =>
  cli.pms(['login', '--url', service.origin, ...args], { input: `${key}\n` });
const workspaceOf = async (args: string[], env: Record<string, string> = {}) =>
  JSON.parse((await cli.pms(['whoami', '--json', ...args], { env })).stdout).workspace.name;

test('logins have names: the first is used, another on request or made the current one', async () => {
  expect((await login(service.key)).stdout).toContain(`The key is in ${file()}, as profile default.`);
  expect((await login(other.key, '--profile', 'staging')).stdout).toContain(
    'as profile staging, and used with --profile staging.',
  );
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(await workspaceOf([])).toBe('default');
  expect(await workspaceOf(['--profile', 'staging'])).toBe('other');
  expect(await workspaceOf([], { PMS_PROFILE: 'staging' })).toBe('other');
  const before = await cli.pms(['--profile', 'staging', 'whoami', '--json']);
  expect(JSON.parse(before.stdout).workspace.name).toBe('other');

  expect((await cli.pms(['profile', 'use', 'staging'])).stdout).toBe(
    `staging is the current profile: ${service.origin}\n`,
  );
  expect(await workspaceOf([])).toBe('other');
  const { stdout } = await cli.pms(['profile', 'list', '--json']);
  expect(JSON.parse(stdout)).toEqual([
    { name: 'default', url: service.origin, key: 'given', current: false },
    { name: 'staging', url: service.origin, key: 'given', current: true },
  ]);
  expect((await cli.pms(['profile', 'list'])).stdout).toMatch(/\n\* +staging +http/);
  expect(stdout).not.toContain(service.key.slice(0, 12));
});

test('a key of the environment precedes its profile, but not a requested one', async () => {
  await login(other.key, '--profile', 'staging');
  const env = { PMS_BASE_URL: service.origin, PMS_API_KEY: service.key };
  expect(await workspaceOf([], { ...env, PMS_PROFILE: 'staging' })).toBe('default');
  expect(await workspaceOf(['--profile', 'staging'], env)).toBe('other');
});

test('a profile is forgotten; if it was the current one, another is to be chosen', async () => {
  await login(service.key);
  await login(other.key, '--profile', 'staging');
  const removed = await cli.pms(['profile', 'remove', 'default']);
  expect([removed.status, removed.stdout]).toEqual([0, expect.stringContaining('is still valid')]);
  const none = await cli.pms(['whoami']);
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('choose staging with pms profile use')]);
  await cli.pms(['profile', 'remove', 'staging']);
  await expect(stat(file())).rejects.toThrow('ENOENT');
});

test('logout is for the current profile, or all', async () => {
  await login(service.key);
  await login(other.key, '--profile', 'staging');
  await cli.pms(['logout', '--profile', 'staging']);
  expect(Object.keys(JSON.parse(await readFile(file(), 'utf8')).profiles)).toEqual(['default']);
  await login(other.key, '--profile', 'staging');
  expect((await cli.pms(['logout', '--all'])).stdout.trim().split('\n')).toHaveLength(2);
  await expect(stat(file())).rejects.toThrow('ENOENT');
});

test('an unknown or invalid profile is status 2', async () => {
  await login(service.key);
  for (const args of [
    ['profile', 'use', 'none'],
    ['profile', 'remove', '__proto__'],
    ['whoami', '--profile', 'constructor'],
    ['prompts', 'list', '--profile', 'none'],
  ]) {
    const { status, stderr } = await cli.pms(args);
    expect([args, status, stderr]).toEqual([args, 2, expect.stringContaining('There is no profile')]);
  }
  for (const name of ['../x', '-x', '__proto__']) {
    const { status, stderr } = await login(service.key, `--profile=${name}`);
    expect([name, status, stderr]).toEqual([name, 2, expect.stringContaining('is not a valid profile name')]);
  }
});

test('the file of version 1.0 is read, and keeps its login as default', async () => {
  const { key } = await createKey(service, 'read');
  await login(service.key, '--profile', 'x');
  await writeFile(file(), JSON.stringify({ url: service.origin, api_key: key, is_own: false }));
  await chmod(file(), 0o600);
  expect(await workspaceOf([])).toBe('default');
  await login(other.key, '--profile', 'staging');
  expect(JSON.parse(await readFile(file(), 'utf8'))).toEqual({
    current: 'default',
    profiles: {
      default: { url: service.origin, api_key: key, is_own: false },
      staging: { url: service.origin, api_key: other.key, is_own: false },
    },
  });
  await writeFile(file(), '{"profiles": {"x": {}}}');
  expect((await cli.pms(['whoami'])).stderr).toContain('is not a credentials file');
});

test('at a terminal a question precedes forgetting, unless it is skipped', async () => {
  await login(service.key);
  const remove = async (typed: string, ...more: string[]) => {
    const env = { PMS_CONFIG_DIR: path.join(cli.folder, '.config'), TERM: 'xterm' };
    return atTerminal('[y/N]', typed, ['profile', 'remove', 'default', ...more], env);
  };
  for (const typed of ['n\r', '\r', '\x03', '\x04'])
    expect([typed, await remove(typed)]).toEqual([
      typed,
      { code: 2, output: expect.stringContaining('nothing was changed') },
    ]);
  expect(await remove('y\r')).toEqual({ code: 0, output: expect.stringContaining('Deleted default') });
  await login(service.key);
  expect(await remove('', '--yes')).toEqual({ code: 0, output: expect.not.stringContaining('[y/N]') });
});
