import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { runAdmin } from './run.ts';

let service: TestService;
let databaseUrl: string;

beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'its commands are about all workspaces' });
  const [row] = await service.dependencies.db.system.query<{ name: string }>({
    text: 'select current_database() as name',
  });
  databaseUrl = `${process.env['TEST_POSTGRES_URL']}${row?.name}`;
});
afterAll(() => service?.stop());

const admin = (...args: string[]) => runAdmin(args, { DATABASE_URL: databaseUrl });

/** Runs a command with `--json` and returns the printed object. */
async function adminJson(...args: string[]) {
  const run = await admin(...args, '--json');
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(run.stdout);
}

describe('workspaces', () => {
  test('are made, listed and given another owner', async () => {
    const made = await adminJson('workspace', 'create', 'acme', '--owner', 'ada@example.com');
    expect(made).toEqual({
      id: expect.stringMatching(/^ws_[0-9a-f-]{36}$/),
      name: 'acme',
      owner_email: 'ada@example.com',
      created_at: expect.stringMatching(/Z$/),
    });
    const changed = await adminJson('workspace', 'set-owner', 'acme', 'grace@example.com');
    expect(changed).toEqual({ ...made, owner_email: 'grace@example.com' });
    const { data } = await adminJson('workspace', 'list');
    expect(data).toContainEqual(changed);
    const { stdout } = await admin('workspace', 'list');
    expect(stdout).toMatch(/^NAME +ID +OWNER +CREATED\n/);
    expect(stdout).toMatch(/^acme +ws_\S+ +grace@example\.com +\S+Z$/m);
  });

  test('have names of their own', async () => {
    await admin('workspace', 'create', 'taken', '--owner', 'ada@example.com');
    expect(await admin('workspace', 'create', 'taken', '--owner', 'ada@example.com')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: There is a workspace "taken" already. Choose another name.\n',
    });
  });
});

describe('a workspace that is deleted', () => {
  test('is refused and forgotten at once, if its name is given twice', async () => {
    const made = await adminJson('workspace', 'create', 'old-team', '--owner', 'ada@example.com');
    const { key } = await adminJson('key', 'create', '--workspace', 'old-team', '--name', 'ci', '--scopes', 'read');
    expect((await service.call('GET', '/prompts', { key })).status).toBe(200);
    expect(await admin('workspace', 'delete', 'old-team')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Nothing was deleted'),
    });
    expect((await service.call('GET', '/prompts', { key })).status).toBe(200);
    expect(await adminJson('workspace', 'delete', 'old-team', '--yes')).toEqual({ ...made, keys: 1 });
    await waitFor('its key to be refused', async () => (await service.call('GET', '/prompts', { key })).status === 401);
    const { data } = await adminJson('workspace', 'list');
    expect(data.map(({ name }: { name: string }) => name)).not.toContain('old-team');
    expect(await admin('key', 'create', '--workspace', 'old-team', '--name', 'ci', '--scopes', 'read')).toMatchObject({
      code: 1,
    });
    expect(await admin('workspace', 'delete', 'old-team', '--yes')).toMatchObject({
      code: 1,
      stderr: 'error: There is no workspace "old-team".\n',
    });
    // The name is free.
    await adminJson('workspace', 'create', 'old-team', '--owner', 'ada@example.com');
  });
});

describe('keys', () => {
  test('created here open the API of only their workspace, until they are revoked', async () => {
    const { id } = await adminJson('workspace', 'create', 'keys', '--owner', 'ada@example.com');
    const made = await adminJson('key', 'create', '--workspace', 'keys', '--name', 'ci', '--scopes', 'read,write');
    expect(made).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^pms_[0-9A-Za-z]{43}$/),
      workspace: 'keys',
      scopes: ['read', 'write'],
    });
    expect(id).toMatch(/^ws_/);

    const prompt = { name: 'hello', template: 'Hello', model: 'sandbox/echo' };
    expect((await service.call('POST', '/prompts', { key: made.key, body: prompt })).status).toBe(201);
    expect((await service.call('GET', '/prompts/hello')).status).toBe(404);
    expect((await service.call('GET', '/api-keys', { key: made.key })).body.error.code).toBe('insufficient_scope');

    const [listed] = (await adminJson('key', 'list', '--workspace', 'keys')).data;
    expect(listed).toMatchObject({
      id: made.id,
      name: 'ci',
      scopes: ['read', 'write'],
      expires_at: null,
      revoked_at: null,
    });
    expect(JSON.stringify(listed)).not.toContain(made.key);

    // The API remembers the key by now: revoking it must reach the API, not only the table.
    const revoked = await adminJson('key', 'revoke', made.id);
    expect(revoked).toMatchObject({ id: made.id, revoked_at: expect.stringMatching(/Z$/) });
    await waitFor(
      'the key to be refused',
      async () => (await service.call('GET', '/prompts', { key: made.key })).status === 401,
    );
    expect((await admin('key', 'list', '--workspace', 'keys')).stdout).toMatch(/ci +read,write +revoked /);

    const boss = await adminJson('key', 'create', '--workspace', 'keys', '--name', 'boss', '--scopes', 'publish,admin');
    const log = await service.call('GET', '/audit-log?actor=operator', { key: boss.key });
    const operator = { type: 'operator', key_id: null, key_name: null, session_id: null };
    expect(log.body.data).toMatchObject([
      { action: 'api_key.created', resource: { id: boss.id }, actor: operator, address: null, request_id: null },
      { action: 'api_key.revoked', resource: { id: made.id }, actor: operator },
      { action: 'api_key.created', resource: { id: made.id }, actor: operator },
      { action: 'workspace.created', resource: { id }, actor: operator, details: { owner_email: 'ada@example.com' } },
    ]);
  });

  test('can expire', async () => {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const flags = ['--workspace', 'default', '--name', 'short', '--scopes', 'admin'];
    const made = await admin('key', 'create', ...flags, '--expires', expires);
    expect(made.stdout).toMatch(/^ {2}pms_\w{43}$/m);
    const { data } = await adminJson('key', 'list', '--workspace', 'default');
    expect(data[0]).toMatchObject({ name: 'short', expires_at: expires });
  });
});

describe('names the problem in one sentence, and exits with 1', () => {
  const key = ['key', 'create', '--workspace', 'default', '--name', 'x', '--scopes'];
  test.each([
    ['an unknown workspace', ['key', 'list', '--workspace', 'nobody'], 'There is no workspace "nobody".'],
    ['an unknown owner', ['workspace', 'set-owner', 'nobody', 'a@example.com'], 'There is no workspace "nobody".'],
    [
      'a bad scope',
      [...key, 'read,fly'],
      'There is no scope "fly"; the scopes are read, execute, score, ingest, write, publish, admin.',
    ],
    ['an unknown key', ['key', 'revoke', 'key_1'], 'There is no key "key_1".'],
    ['a missing option', ['key', 'list'], "required option '--workspace <name>' not specified"],
    ['an unknown command', ['nonsense'], "unknown command 'nonsense'"],
  ])('%s', async (_, args, sentence) => {
    const run = await admin(...args);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr.trim().split('\n')).toEqual([expect.stringMatching(/^error: /)]);
    expect(run.stderr).toContain(sentence);
  });

  test('an unreachable database', async () => {
    expect(await runAdmin(['workspace', 'list'], { DATABASE_URL: 'postgresql://u:hidden@127.0.0.1:1/x' })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: Cannot reach the database: start it or correct DATABASE_URL, then try again.\n',
    });
  });

  test('a database that does not exist, and makes none', async () => {
    const missing = databaseUrl.replace(/[^/]+$/, 'missing');
    const run = await runAdmin(['workspace', 'list', '--json'], { DATABASE_URL: missing });
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('"missing" does not exist') });
  });

  test('a database without tables', async () => {
    const empty = databaseUrl.replace(/[^/]+$/, 'postgres');
    const run = await runAdmin(['workspace', 'list'], { DATABASE_URL: empty });
    expect(run.stderr).toBe('error: The database has no tables yet: run npm run migrate first.\n');
  });

  test('wrong settings', async () => {
    const run = await runAdmin(['workspace', 'list'], { DATABASE_URL: databaseUrl, PORT: 'x' });
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('PORT: must be a port number') });
  });
});
