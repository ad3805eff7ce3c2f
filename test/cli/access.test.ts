import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { run } from '../../scripts/python.ts';
import { createKey } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { atTerminal, type Cli, PROGRAM, startCli } from './support.ts';

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

test('a key is kept only for this user, and used by the following commands', async () => {
  const login = await cli.pms(['login', '--url', `${service.origin}/v1/`], { input: `${service.key}\n` });
  expect(login).toMatchObject({ status: 0, stdout: expect.stringContaining(`Logged in to ${service.origin}.`) });
  const file = path.join(cli.folder, '.config', 'credentials.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const who = await cli.pms(['whoami']);
  expect([who.status, who.stdout]).toEqual([
    0,
    `${service.origin} with the key ${service.key.slice(0, 8)}… from ${file}: valid
name       workspace  scopes                                         expires
bootstrap  default    read execute score ingest write publish admin  never
`,
  ]);
  expect((await cli.pms(['prompts', 'list', '--json'])).stdout).toBe('[]\n');
});

test('a wrong key is not kept', async () => {
  const login = await cli.pms(['login', '--url', service.origin], { input: 'pms_wrong\n' });
  expect([login.status, login.stderr]).toEqual([2, expect.stringContaining('rejected the key')]);
  expect((await cli.pms(['login', '--url', service.origin])).status).toBe(2);
  expect((await cli.pms(['login', '--url', 'ftp://x'], { input: 'x\n' })).status).toBe(2);
  const who = await cli.pms(['whoami']);
  expect([who.status, who.stderr]).toEqual([2, expect.stringContaining('No key found')]);
});

test.each([
  ['a page', 200, 'text/html', '<html>Welcome</html>'],
  ['other JSON', 200, 'application/json', '{"status":"ok"}'],
  ['no such path', 404, 'text/html', '<html>Not found</html>'],
])('a server that is not the service is not logged in to: %s', async (_, status, type, body) => {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'Content-Type': type }).end(body);
  }).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    const login = await cli.pms(['login', '--url', url], { input: 'pms_x\n' });
    expect(login).toEqual({
      status: 2,
      stdout: '',
      stderr: `${url} is not a Prompt Management Service: unexpected response (HTTP ${status}). Check the address.\n`,
    });
    expect((await cli.pms(['whoami'])).stderr).toContain('No key found');
  } finally {
    server.close();
  }
});

test('at a terminal, a typed key is not shown', async () => {
  const typed = `x\x7f${service.key}\r`;
  const env = { PMS_CONFIG_DIR: path.join(cli.folder, '.config'), TERM: 'xterm' };
  const { code, output } = await atTerminal('API key', typed, ['login', '--with-key', '--url', service.origin], env);
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(`Logged in to ${service.origin}`) });
  expect(output).not.toContain(service.key.slice(4, 12));
  expect((await cli.pms(['whoami'])).status).toBe(0);
});

test('the version is shown', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../cli/package.json', import.meta.url), 'utf8'));
  expect(await cli.pms(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
});

test('the help loads no command and no client', async () => {
  const tell = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (process.stdout.write(url + '\\n'), next(url, context)) });`;
  const nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(tell)}`];
  const { code, output } = await cli.start(['--help'], { nodeFlags }).ended;
  expect([code, output]).toEqual([0, expect.stringContaining('cli/src/program.ts')]);
  expect(output).not.toMatch(/commands\/|pms-client|clients\/typescript|zod|yaml/);
});

test('a file without YAML is reported in a line', async () => {
  await writeFile(path.join(cli.folder, 'eval.yaml'), 'prompt_name: a\n  b: [1,\n');
  for (const args of [
    ['eval', 'run', 'eval.yaml'],
    ['run', 'a', '--vars', 'eval.yaml'],
  ]) {
    const { status, stderr } = await cli.pms(args, { env: { PMS_API_KEY: 'pms_x' } });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^eval\.yaml: not valid YAML or JSON: .+ line 1.*\n$/)]);
  }
});

test('a key goes to no service but its own', async () => {
  await cli.pms(['login', '--url', service.origin], { input: service.key });
  const elsewhere = await cli.pms(['prompts', 'list'], { env: { PMS_BASE_URL: 'http://127.0.0.1:9' } });
  expect([elsewhere.status, elsewhere.stderr]).toEqual([2, expect.stringContaining('the key of pms login is for')]);
});

test('the environment precedes stored logins', async () => {
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
    member: null,
    workspace: { name: 'default' },
    scopes: ['execute'],
    expires_at: null,
  });
  const list = await cli.pms(['prompts', 'list'], { env });
  expect([list.status, list.stderr]).toEqual([2, expect.stringContaining('scope')]);
});

test('an unreachable service is status 3, a wrong command is status 2', async () => {
  const away = await cli.pms(['prompts', 'list'], {
    env: { PMS_BASE_URL: 'http://127.0.0.1:9', PMS_API_KEY: 'pms_x', PMS_RETRY_SECONDS: '0' },
  });
  expect([away.status, away.stderr]).toEqual([3, expect.stringContaining('http://127.0.0.1:9')]);
  for (const args of [['nothing'], ['run'], ['prompts', 'list', '--nothing'], ['run', 'x', '--version', 'one']])
    expect([args, (await cli.pms(args)).status]).toEqual([args, 2]);
  expect((await cli.pms(['--help'])).status).toBe(0);
});

test('white space around the address and the key does not matter; an invalid one is reported without showing it', async () => {
  const env = { PMS_BASE_URL: ` ${service.origin}\n`, PMS_API_KEY: `${service.key}\r\n` };
  expect((await cli.pms(['whoami'], { env })).status).toBe(0);
  for (const key of [`${service.key}\n${service.key}`, `“${service.key}”`])
    for (const args of [['whoami'], ['prompts', 'list']]) {
      const { status, stdout, stderr } = await cli.pms(args, { env: { ...env, PMS_API_KEY: key } });
      expect([status, stderr]).toEqual([2, expect.stringMatching(/^The API key has white space[^\n]*\n$/)]);
      expect(stdout + stderr).not.toContain(service.key.slice(4));
    }
  const login = await cli.pms(['login', '--url', service.origin], { input: `“${service.key}”\n` });
  expect([login.status, login.stderr]).toEqual([2, expect.stringContaining('Copy the key again')]);
  for (const url of ['127.0.0.1:3000', 'http://me:hunter2@127.0.0.1:3000']) {
    const { status, stderr } = await cli.pms(['prompts', 'list'], { env: { PMS_BASE_URL: url, PMS_API_KEY: 'pms_x' } });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^The baseUrl must be an http or https URL[^\n]*\n$/)]);
    expect(stderr).not.toContain('hunter2');
  }
});

/** Completions are written past the command's context. */
const complete = (...args: string[]) =>
  run(process.execPath, ['--conditions=pms-source', PROGRAM, 'complete', ...args]);

test.each(['bash', 'zsh', 'fish', 'powershell'])('%s has a completion', async (shell) => {
  expect(await complete(shell)).toMatchObject({ code: 0, output: expect.stringContaining('pms') });
});

test('commands are completed', async () => {
  const { output } = await complete('--', 'prompts', 'pu');
  expect(output).toContain('push');
  expect(output).toContain('pull');
});
