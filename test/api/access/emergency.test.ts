import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runAdmin } from '../../admin/run.ts';
import { memberOf } from '../../support/members.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  // Nothing answers at the issuer: the identity provider is down.
  service = await startTestService(
    {
      OIDC_ISSUER: 'http://127.0.0.1:9',
      OIDC_CLIENT_ID: 'pms',
      OIDC_NAME: 'Acme',
      PUBLIC_URL: 'http://127.0.0.1:3000',
      CONSOLE_KEY_SIGN_IN: 'false',
    },
    { workers: false },
  );
});
afterAll(() => service?.stop());

const admin = (...args: string[]) => runAdmin(args, { DATABASE_URL: service.databaseUrl });
const signIn = (key: string) => service.call('POST', '/session', { key: null, body: { key } });
const emergencyKey = async (...more: string[]) => {
  const run = await admin(
    'emergency-key',
    '--workspace',
    'default',
    '--reason',
    'the provider is down',
    ...more,
    '--json',
  );
  expect(run).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(run.stdout);
};

test('only an emergency key can sign in, and other keys get a hint', async () => {
  const member = await memberOf(service, 'admin');
  for (const key of [service.key, (await createKey(service, 'admin')).key, member.key]) {
    const { status, body, headers } = await signIn(key);
    expect([status, body.error.code, headers.get('Set-Cookie')]).toEqual([400, 'invalid_state', null]);
    expect(body.error.message).toContain('sign in with Acme');
    expect(body.error.message).toContain('emergency-key');
    // Programs can use it as before.
    expect((await service.call('GET', '/prompts', { key })).status).toBe(200);
  }
  // An invalid key learns nothing about how to sign in.
  const unknown = await signIn('pms_unknown');
  expect([unknown.status, unknown.body.error.message]).toEqual([401, expect.not.stringContaining('emergency')]);
  const { key } = await emergencyKey();
  const { status, headers } = await signIn(key);
  expect([status, headers.get('Set-Cookie')]).toEqual([201, expect.stringContaining('pms_session=')]);
});

test('is temporary, has all scopes and a recorded reason, and the owner is notified', async () => {
  const begun = Date.now();
  const made = await emergencyKey('--minutes', '5');
  expect(made).toEqual({
    id: expect.stringMatching(/^key_/),
    key: expect.stringMatching(/^pms_/),
    workspace: 'default',
    expires_at: expect.any(String),
  });
  expect(Math.abs(Date.parse(made.expires_at) - begun - 300_000)).toBeLessThan(120_000);
  const current = await service.call('GET', '/api-keys/current', { key: made.key });
  expect(current.body).toMatchObject({ kind: 'emergency', expires_at: made.expires_at });
  expect(current.body.scopes).toContain('admin');
  const { body: log } = await service.call('GET', '/audit-log?actor=operator&action=api_key.created&limit=1');
  expect(log.data[0]).toMatchObject({
    resource: { id: made.id },
    details: { kind: 'emergency', reason: 'the provider is down' },
  });
  const { body: notifications } = await service.call('GET', '/notifications?limit=1');
  expect(notifications.data[0]).toMatchObject({
    type: 'emergency_key.created',
    message: expect.stringContaining('the provider is down'),
  });
  const [row] = await service.dependencies.db.system.query<{ email_pending: boolean }>({
    text: `select email_pending from notifications order by id desc limit 1`,
  });
  expect(row?.email_pending).toBe(true);
  // Its session ends with it.
  const { body: session } = await signIn(made.key);
  expect(Date.parse(session.expires_at)).toBeLessThanOrEqual(Date.parse(made.expires_at));
});

test.each([
  ['no reason', ['--workspace', 'default']],
  ['an empty reason', ['--workspace', 'default', '--reason', ' ']],
  ['a reason of several lines', ['--workspace', 'default', '--reason', 'a\nb']],
  ['no workspace', ['--reason', 'x']],
  ['a workspace that is not there', ['--workspace', 'nowhere', '--reason', 'x']],
  ['more than a day', ['--workspace', 'default', '--reason', 'x', '--minutes', '1441']],
  ['no time', ['--workspace', 'default', '--reason', 'x', '--minutes', '0']],
])('is not made with %s', async (_, args) => {
  const before = (await service.call('GET', '/api-keys?limit=1')).body.data;
  const { code, stdout, stderr } = await admin('emergency-key', ...args);
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^error: /)]);
  expect((await service.call('GET', '/api-keys?limit=1')).body.data).toEqual(before);
});
