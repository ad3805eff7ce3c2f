import { once } from 'node:events';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { run } from '../../scripts/python.ts';
import type { Role } from '../../src/domain/roles.ts';
import { createKey } from '../api/workspace.ts';
import { type SignedInMember, signInMember } from '../support/members.ts';
import { killOrphans, type Started } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Cli, PROGRAM, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  cli = await startCli();
});
afterEach(async () => {
  await killOrphans();
  await cli?.remove();
});

const start = (args: string[] = [], env: Record<string, string> = {}) =>
  cli.start(['login', '--device', '--url', service.origin, ...args], { env });
const codeOf = async (login: Started) => (await login.says(/\?code=([A-Z-]{9})/))[1] ?? '';
const decide = (code: string, decision: 'approve' | 'deny', { headers }: SignedInMember, body: object = {}) =>
  service.call('POST', `/device/authorizations/${code}/${decision}`, {
    key: null,
    headers,
    ...(decision === 'approve' && { body }),
  });
const fileOf = () => path.join(cli.folder, '.config', 'credentials.json');

/** Logs in with a key of a member. */
async function logIn(role: Role = 'editor', body: object = {}): Promise<string> {
  const member = await signInMember(service, { role, name: 'Ada' });
  const login = start(['--no-browser']);
  expect((await decide(await codeOf(login), 'approve', member, body)).status).toBe(200);
  expect((await login.ended).code).toBe(0);
  return JSON.parse(await readFile(fileOf(), 'utf8')).profiles.default.api_key;
}

test('a person approves it in the browser, and the key is kept only for this user, shown nowhere, and ended by pms logout', async () => {
  const member = await signInMember(service, { role: 'editor', name: 'Ada' });
  const login = start(['--no-browser']);
  const code = await codeOf(login);
  const { body: asked } = await service.call('GET', `/device/authorizations/${code}`, {
    key: null,
    headers: member.headers,
  });
  expect([asked.client, asked.address]).toEqual([expect.stringMatching(/^pms on ./), '127.0.0.1']);
  await decide(code, 'approve', member, { scopes: ['read', 'execute'], expires_in_days: 7 });
  const { code: status, output } = await login.ended;
  expect([status, output]).toEqual([0, expect.stringContaining(`Logged in to ${service.origin}, workspace default.`)]);
  const modes = await Promise.all([fileOf(), path.dirname(fileOf())].map(async (at) => (await stat(at)).mode & 0o777));
  expect(modes).toEqual([0o600, 0o700]);
  const key: string = JSON.parse(await readFile(fileOf(), 'utf8')).profiles.default.api_key;
  expect(output).not.toContain(key.slice(4, 12));
  const who = await cli.pms(['whoami']);
  expect(who.stdout).toMatch(
    /name +person +role +workspace +scopes +expires\n.*Ada +editor +default +read execute +20/,
  );
  expect(JSON.parse((await cli.pms(['whoami', '--json'])).stdout).member).toMatchObject({
    name: 'Ada',
    role: 'editor',
  });
  expect(await cli.pms(['logout'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('The key is revoked.'),
  });
  expect((await service.call('GET', '/api-keys/current', { key })).status).toBe(401);
  await expect(stat(fileOf())).rejects.toThrow('ENOENT');
  expect(await cli.pms(['logout'])).toMatchObject({ status: 0, stdout: 'Not logged in.\n' });
});

test('a denial keeps nothing', async () => {
  const member = await signInMember(service, { role: 'viewer' });
  const login = start(['--no-browser']);
  await decide(await codeOf(login), 'deny', member);
  expect(await login.ended).toMatchObject({ code: 2, output: expect.stringContaining('The login was denied') });
  await expect(stat(fileOf())).rejects.toThrow('ENOENT');
});

test('an expired code ends it', async () => {
  const login = start(['--no-browser']);
  await codeOf(login);
  await service.dependencies.db.system.query({ text: `update device_authorizations set expires_at = now()` });
  expect(await login.ended).toMatchObject({ code: 2, output: expect.stringContaining('The code expired') });
});

test('Ctrl-C ends the waiting', async () => {
  const login = start(['--no-browser']);
  await codeOf(login);
  login.interrupt();
  expect((await login.ended).signal).toBe('SIGINT');
});

test('the browser opens the page, as one argument and without a shell, unless it is unwanted or missing', async () => {
  const opened = path.join(cli.folder, 'opened');
  await writeFile(path.join(cli.folder, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > ${opened}\n`);
  await chmod(path.join(cli.folder, 'xdg-open'), 0o755);
  const env = { PATH: `${cli.folder}:${process.env['PATH']}`, DISPLAY: ':0' };
  const read = () => readFile(opened, 'utf8').catch(() => '');
  for (const [args, more] of [
    [['--no-browser'], {}],
    [[], { DISPLAY: '' }],
    [[], { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }],
  ] as const) {
    const login = start([...args], { ...env, ...more });
    await login.says(/Press Ctrl-C to cancel/);
    login.interrupt();
    await login.ended;
    expect(await read()).toBe('');
  }
  const login = start([], env);
  const code = await codeOf(login);
  await waitFor('the browser', async () => (await read()).endsWith('\n'));
  expect(await read()).toBe(`1\n${service.origin}/console/device?code=${code}\n`);
});

test('at a terminal, pms login uses the browser', async () => {
  const script = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
while b"Press Ctrl-C to cancel" not in shown:
    data = os.read(terminal, 4096)
    if not data:
        break
    shown += data
os.write(terminal, b"\\x03")
_, status = os.waitpid(pid, 0)
print(shown.decode(), os.WTERMSIG(status))
`;
  const command = [process.execPath, '--conditions=pms-source', PROGRAM, 'login', '--url', service.origin];
  const env = { PMS_CONFIG_DIR: path.join(cli.folder, '.config'), TERM: 'xterm' };
  const { output } = await run('python3', ['-c', script, ...command], { env });
  expect(output).toMatch(/if it shows the code [A-Z]{4}-[A-Z]{4}:[\s\S]* 2\n$/);
});

test('a given key is forgotten by pms logout, and not revoked: others may use it', async () => {
  const { key } = await createKey(service, 'read');
  await cli.pms(['login', '--url', service.origin], { input: key });
  expect(await cli.pms(['logout'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('The key is still valid: you passed it'),
  });
  await expect(stat(fileOf())).rejects.toThrow('ENOENT');
  expect((await service.call('GET', '/api-keys/current', { key })).status).toBe(200);
});

test('a key is kept if the service can’t be notified that it ends, unless it is only forgotten', async () => {
  const key = await logIn();
  await writeFile(fileOf(), (await readFile(fileOf(), 'utf8')).replace(service.origin, 'http://127.0.0.1:9'));
  expect((await cli.pms(['logout'])).status).toBe(3);
  expect((await stat(fileOf())).isFile()).toBe(true);
  expect((await cli.pms(['logout', '--keep-key'])).status).toBe(0);
  expect((await service.call('GET', '/api-keys/current', { key })).status).toBe(200);
});

test('a file readable by others is reported', async () => {
  const { key } = await createKey(service, 'read');
  await cli.pms(['login', '--url', service.origin], { input: key });
  expect((await cli.pms(['whoami'])).stderr).toBe('');
  await chmod(fileOf(), 0o644);
  const who = await cli.pms(['whoami']);
  expect([who.status, who.stderr]).toEqual([0, expect.stringContaining('Other users can read the key')]);
});

test('logins to several services exist side by side, each in its own folder', async () => {
  const [first, second] = [await createKey(service, 'read'), await createKey(service, 'write')];
  const env = { PMS_CONFIG_DIR: path.join(cli.folder, 'other') };
  await cli.pms(['login', '--url', service.origin], { input: first.key });
  await cli.pms(['login', '--url', service.origin], { input: second.key, env });
  await cli.pms(['logout'], { env });
  expect(JSON.parse((await cli.pms(['whoami', '--json'])).stdout).id).toBe(first.id);
});

test.each([
  ['a page', 200, 'text/html', '<html>Welcome</html>', 2, 'is not a Prompt Management Service'],
  [
    'an older service, which asks for a key first',
    401,
    'application/json',
    '{"error":{"code":"unauthorized","message":"Send a key."}}',
    2,
    'does not support browser login',
  ],
])('without such a login, it says so: %s', async (_, status, type, body, exit, says) => {
  const server = createServer((_request, response) => {
    const headers = { 'Content-Type': type, ...(status === 401 && { 'X-Request-Id': 'req_1' }) };
    response.writeHead(status, headers).end(body);
  }).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    const login = await cli.pms(['login', '--device', '--url', url]);
    expect([login.status, login.stderr]).toEqual([exit, expect.stringContaining(says)]);
  } finally {
    server.close();
  }
});
