import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkNow, putMonitor, storeRuns } from '../api/monitors/monitors-support.ts';
import { waitFor } from '../support/wait-for.ts';
import { flood, maxMs, medianMs, report, startTwoTenants, type TwoTenants } from './support.ts';

const MONITORS = 100;
const RUNS = 50_000;

let tenants: TwoTenants;
beforeAll(async () => {
  tenants = await startTwoTenants();
});
afterAll(() => tenants?.stop());

/** From its creation to its first check. */
async function lookedAt(name: string): Promise<void> {
  await putMonitor(tenants.other, name, { window: '1h', checks: [{ metric: 'error_rate', above: 0.5 }] });
  await waitFor(`the look of ${name}`, async () => {
    const { body } = await tenants.other('GET', `/monitors/${name}`);
    return body.last_checked_at !== null;
  });
}

test("a workspace's 100 monitors over a day and 50,000 runs do not delay another workspace's monitor", async () => {
  const { hostile, service } = tenants;
  const { db } = service.dependencies;
  const idleMs = await medianMs(3, (index) => lookedAt(`idle-${index}`));
  const [row] = await db.system.query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  for (let hour = 0; hour < 10; hour += 1)
    await storeRuns(service.dependencies, row?.id ?? '', {
      count: RUNS / 10,
      secondsAgo: hour * 3600,
      latencyMs: 50 + hour * 100,
    });
  const checks = ['latency_p95', 'cost_mean', 'cost_total'].map((metric) => ({ metric, above: 1e6 }));
  await flood(MONITORS, 4, (index) => putMonitor(hostile, `m-${index}`, { window: '24h', checks }));
  expect((await hostile('PUT', '/monitors/more', { body: { window: '24h', checks } })).body.error.code).toBe(
    'quota_exceeded',
  );
  let isOver = false;
  const looking = (async () => {
    while (!isOver) await checkNow(service.dependencies);
  })();
  const busyMs = await medianMs(5, (index) => lookedAt(`busy-${index}`));
  isOver = true;
  await looking;
  report({ idleMs, busyMs });
  expect(busyMs).toBeLessThan(maxMs(idleMs));
});
