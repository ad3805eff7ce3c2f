import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';

let limited: TestService;
beforeAll(async () => {
  limited = await startTestService(
    { RATE_LIMIT_PER_MINUTE: '1200', TRUST_PROXY: 'true', PUBLIC_URL: 'https://prompts.example.com/' },
    { workers: false },
  );
});
afterAll(() => limited?.stop());
const from = (address: string, path: string, body: object) =>
  limited.call('POST', path, { key: null, headers: { 'X-Forwarded-For': address }, body });

test('an address can have a hundred open requests, and others continue', async () => {
  const client = 'pms';
  const answers = await Promise.all(
    Array.from({ length: 110 }, () => from('192.0.2.7', '/device/authorizations', { client })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
  for (const answer of answers.filter(({ status }) => status !== 201))
    expect([answer.status, answer.body.error.code]).toEqual([429, 'rate_limited']);
  const elsewhere = await from('192.0.2.8', '/device/authorizations', { client });
  expect([elsewhere.status, elsewhere.body.verification_uri]).toEqual([
    201,
    'https://prompts.example.com/console/device',
  ]);
  await limited.dependencies.db.system.query({
    text: `update device_authorizations set expires_at = now() - interval '1 s' where address = '192.0.2.7'`,
  });
  expect((await from('192.0.2.7', '/device/authorizations', { client })).status).toBe(201);
});

test('ten thousand in total', async () => {
  await limited.dependencies.db.system.query({
    text: `insert into device_authorizations (id, device_code_hash, user_code_hash, client, address, caller, poll_seconds, created_at, expires_at)
             select gen_random_uuid(), sha256(n::text::bytea), sha256(n::text::bytea), 'x', 'x', n::text, 5, now(), now() + interval '9 min'
             from generate_series(1, 10000) n`,
  });
  const refused = await from('192.0.2.9', '/device/authorizations', { client: 'pms' });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
});

test('polls of an address are limited, whatever the code', async () => {
  const statuses = new Set<number>();
  for (let sent = 0; sent < 1_300 && !statuses.has(429); sent += 50)
    for (const { status } of await Promise.all(
      Array.from({ length: 50 }, () => from('192.0.2.10', '/device/token', { device_code: 'guess' })),
    ))
      statuses.add(status);
  expect(statuses).toEqual(new Set([400, 429]));
  expect((await from('192.0.2.11', '/device/token', { device_code: 'guess' })).status).toBe(400);
});
