import { stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKey } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  cli = await startCli();
});
afterEach(() => cli?.remove());

test('a key is kept for this user alone, and used by the commands that follow', async () => {
  const login = await cli.pms(['login', '--url', `${service.origin}/v1/`], { input: `${service.key}\n` });
  expect(login).toMatchObject({ status: 0, stdout: expect.stringContaining(`Logged in to ${service.origin}.`) });
  const file = path.join(cli.folder, '.config', 'credentials.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const who = await cli.pms(['whoami']);
  expect([who.status, who.stdout]).toEqual([
    0,
    `${service.origin} with the key ${service.key.slice(0, 8)}… from ${file}: valid
name       workspace  scopes                            expires
bootstrap  default    read execute write publish admin  never
`,
  ]);
  expect((await cli.pms(['prompts', 'list', '--json'])).stdout).toBe('[]\n');
});

test('a wrong key is not kept', async () => {
  const login = await cli.pms(['login', '--url', service.origin], { input: 'pms_wrong\n' });
  expect([login.status, login.stderr]).toEqual([2, expect.stringContaining('refuses the key')]);
  expect((await cli.pms(['login', '--url', service.origin])).status).toBe(2);
  expect((await cli.pms(['login', '--url', 'ftp://x'], { input: 'x\n' })).status).toBe(2);
  const who = await cli.pms(['whoami']);
  expect([who.status, who.stderr]).toEqual([2, expect.stringContaining('There is no key')]);
});

test('a key goes to no other service than the one it is of', async () => {
  await cli.pms(['login', '--url', service.origin], { input: service.key });
  const elsewhere = await cli.pms(['prompts', 'list'], { env: { PMS_BASE_URL: 'http://127.0.0.1:9' } });
  expect([elsewhere.status, elsewhere.stderr]).toEqual([
    2,
    expect.stringContaining('the key of the last pms login is for'),
  ]);
});

test('the environment goes before what is kept', async () => {
  await cli.pms(['login', '--url', service.origin], { input: service.key });
  const { id, key } = await createKey(service, 'execute');
  const env = { PMS_BASE_URL: service.origin, PMS_API_KEY: key };
  expect(await cli.pms(['whoami'], { env })).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('PMS_API_KEY'),
  });
  expect(JSON.parse((await cli.pms(['whoami', '--json'], { env })).stdout)).toEqual({
    url: service.origin,
    key: `${key.slice(0, 8)}…`,
    source: 'PMS_API_KEY',
    id,
    name: 'execute',
    workspace: { name: 'default' },
    scopes: ['execute'],
    expires_at: null,
  });
  const list = await cli.pms(['prompts', 'list'], { env });
  expect([list.status, list.stderr]).toEqual([2, expect.stringContaining('scope')]);
});

test('a service that is away is status 3, a command that is wrong is status 2', async () => {
  const away = await cli.pms(['prompts', 'list'], {
    env: { PMS_BASE_URL: 'http://127.0.0.1:9', PMS_API_KEY: 'pms_x' },
  });
  expect([away.status, away.stderr]).toEqual([3, expect.stringContaining('http://127.0.0.1:9')]);
  for (const args of [['nothing'], ['run'], ['prompts', 'list', '--nothing'], ['run', 'x', '--version', 'one']])
    expect([args, (await cli.pms(args)).status]).toEqual([args, 2]);
  expect((await cli.pms(['--help'])).status).toBe(0);
});

test.each(['bash', 'zsh', 'fish', 'powershell'])('there is a completion for %s', async (shell) => {
  expect(await cli.pms(['complete', shell])).toMatchObject({ status: 0, stdout: expect.stringContaining('pms') });
});

test('commands are completed', async () => {
  const prompts = await cli.pms(['complete', '--', 'prompts', 'pu']);
  expect(prompts.stdout).toContain('push');
  expect(prompts.stdout).toContain('pull');
});
