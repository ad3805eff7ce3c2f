import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { flood, maxMs, medianMs, report, startTwoTenants, type TwoTenants } from './support.ts';

let tenants: TwoTenants;

beforeAll(async () => {
  tenants = await startTwoTenants();
});

afterAll(() => tenants?.stop());

test('500 requests at a time that hold their connections for long do not delay another workspace’s', async () => {
  const { service, other } = tenants;
  const read = async () => expect((await other('GET', '/prompts/say')).status).toBe(200);
  const idleMs = await medianMs(7, read);
  const [workspace] = await service.foundation.db.system.query<{ id: string }>({
    text: `select id from workspaces where name = 'default'`,
  });
  const db = service.foundation.db.workspace(workspace?.id ?? '');
  let done = false;
  // What a request does that writes much, or waits for a lock that another of its workspace holds.
  const slow = flood(500, 500, async () => {
    if (!done) await db.query({ text: 'select pg_sleep(0.5) where $1::uuid is not null -- workspace_id' });
  });
  await delay(100);
  const busyMs = await medianMs(7, read);
  done = true;
  report({ idleMs, busyMs });
  expect(busyMs).toBeLessThan(maxMs(idleMs));
  await slow;
});

test('500 requests at a time over HTTP do not delay another workspace’s', async () => {
  const { hostile, other } = tenants;
  const read = async () => expect((await other('GET', '/prompts/say')).status).toBe(200);
  const idleMs = await medianMs(7, read);
  let done = false;
  const busy = flood(500, 500, async () => {
    while (!done) expect((await hostile('GET', '/executions?limit=100')).status).toBe(200);
  });
  await delay(500);
  const busyMs = await medianMs(7, read);
  done = true;
  report({ idleMs, busyMs });
  expect(busyMs).toBeLessThan(maxMs(idleMs));
  await busy;
});
