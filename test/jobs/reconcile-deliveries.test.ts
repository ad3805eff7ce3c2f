import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, publicId } from '../../src/domain/ids.ts';
import { reconcileDeliveries } from '../../src/jobs/reconcile-deliveries.ts';
import { captureLog } from '../support/captured-log.ts';
import { overdueRows } from '../support/overdue-rows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type WebhookRows, webhookRows } from '../support/webhook-rows.ts';

/** Without workers, so that reconciliation happens only on command. */
let service: TestService;
let rows: WebhookRows;
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'its job goes over all workspaces' });
  rows = webhookRows(service.dependencies.db, service.dependencies.cipher);
});
afterAll(() => service?.stop());

/** Deliveries of new events to a webhook, started a while ago, without workflows. */
async function leaveBehind(url: string, count: number, ageSeconds: number) {
  const webhook = await rows.webhook({ url });
  const events = await rows.events(count);
  const ids = events.map(() => newId());
  await service.dependencies.db.system.query(
    {
      text: `insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at, started_at, next_attempt_at, check_at)
             select w.workspace_id, d.id, d.event_id, w.id, 'event', 'waiting', d.at, d.at, d.at, now() - interval '1 second'
             from webhooks w, (select unnest($2::uuid[]) as id, unnest($3::uuid[]) as event_id, now() - make_interval(secs => $4) as at) d
             where w.id = $1`,
    },
    [webhook, ids, events, ageSeconds],
  );
  return events.map((event, index) => ({
    id: ids[index] ?? '',
    workflow: service.dependencies.client.workflow.getHandle(
      `webhook-delivery/${publicId('event', event)}/${publicId('webhook', webhook)}`,
    ),
  }));
}

test('an unstartable delivery does not delay other checks, and is checked less and less often', async () => {
  const { db, client, taskQueues } = service.dependencies;
  const { makeOverdue, secondsToCheck } = overdueRows(db.system.query, 'deliveries');
  const { log, lines } = captureLog();
  const reconcile = () =>
    reconcileDeliveries({ db, starter: { client, taskQueues, eager: false, retryWaitsMs: [1_000] }, log });
  const [bad] = await leaveBehind('no address', 1, 300);
  const others = await leaveBehind('http://127.0.0.1:9/', 30, 60);
  await reconcile();
  await expect(bad?.workflow.describe()).rejects.toThrow();
  for (const { workflow } of others) expect((await workflow.describe()).status.name).toBe('RUNNING');
  expect(lines.filter(({ level }) => level === 50)).toMatchObject([{ table: 'deliveries', id: bad?.id }]);
  expect(await secondsToCheck(bad?.id ?? '')).toBeGreaterThan(250);
  for (const { id } of others) expect(await secondsToCheck(id)).toBeLessThan(250);

  // The others are due again earlier.
  await makeOverdue(...others.map(({ id }) => id));
  lines.length = 0;
  await reconcile();
  expect(lines).toEqual([]);
  await Promise.all(others.map(({ workflow }) => workflow.terminate()));
});
