import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { waitFor } from '../support/wait-for.ts';
import { flood, maxMs, medianMs, report, startTwoTenants, type TwoTenants } from './support.ts';

let tenants: TwoTenants;

beforeAll(async () => {
  tenants = await startTwoTenants();
});

afterAll(() => tenants?.stop());

test('500 requests at a time with long-held connections do not delay another workspace', async () => {
  const { service, other } = tenants;
  const read = async () => expect((await other('GET', '/prompts/say')).status).toBe(200);
  const idleMs = await medianMs(7, read);
  const [workspace] = await service.dependencies.db.system.query<{ id: string }>({
    text: `select id from workspaces where name = 'default'`,
  });
  const db = service.dependencies.db.workspace(workspace?.id ?? '');
  const holder = new pg.Client({ connectionString: service.databaseUrl });
  await holder.connect();
  try {
    await holder.query('select pg_advisory_lock(500)');
    // Like requests that wait for a lock held by another request of their workspace.
    let ended = 0;
    const slow = flood(500, 500, async () => {
      await db.query({ text: 'select pg_advisory_xact_lock_shared(500) where $1::uuid is not null -- workspace_id' });
      ended += 1;
    });
    const held = async () => {
      const { rows } = await holder.query<{ count: number }>(`select count(*)::int from pg_locks
        where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`);
      return rows[0]?.count ?? 0;
    };
    // Half of the total, as long as no other workspace uses any.
    const share = Math.floor(service.dependencies.settings.databasePoolSize / 2);
    await waitFor('the connections to be held', async () => (await held()) >= share);
    const busyMs = await medianMs(7, read);
    report({ idleMs, busyMs });
    // They were answered although none of the others was.
    expect(ended).toBe(0);
    await holder.query('select pg_advisory_unlock(500)');
    await slow;
  } finally {
    await holder.end();
  }
});

test('200 requests at a time over HTTP do not delay another workspace', async () => {
  const { hostile, other } = tenants;
  const read = async () => expect((await other('GET', '/prompts/say')).status).toBe(200);
  const idleMs = await medianMs(7, read);
  let done = false;
  let answered = 0;
  const busy = flood(200, 200, async () => {
    while (!done) {
      expect((await hostile('GET', '/executions?limit=100')).status).toBe(200);
      answered += 1;
    }
  });
  await waitFor('the flood to have begun', async () => answered > 0);
  const busyMs = await medianMs(3, read);
  done = true;
  report({ idleMs, busyMs });
  expect(busyMs).toBeLessThan(maxMs(idleMs));
  await busy;
});
