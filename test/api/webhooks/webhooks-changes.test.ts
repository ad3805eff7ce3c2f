import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  deliveryRowsOf,
  detailsOf,
  registerWebhook,
  storeDelivery,
  updateWebhookRow,
  uuidOf,
} from './webhooks-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const update = (id: string, assignments: string) => updateWebhookRow(service, id, assignments);
const deliveriesOf = (id: string) => deliveryRowsOf(service, id);

describe('changing', () => {
  test('replaces given fields and keeps the rest', async () => {
    const { secret: _, ...before } = await registerWebhook(service, {
      description: 'old',
      headers: { 'X-A': '1', 'X-B': '2' },
    });
    const patch = async (body: object) => {
      const answer = await service.call('PATCH', `/webhooks/${before.id}`, { body });
      expect(answer.status).toBe(200);
      return answer.body;
    };
    const first = await patch({ url: 'https://example.com/other' });
    expect(first).toEqual({ ...before, url: 'https://example.com/other', updated_at: first.updated_at });
    expect(Date.parse(first.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(await patch({ events: ['prompt.updated'], rate_limit_per_minute: 5 })).toMatchObject({
      url: 'https://example.com/other',
      events: ['prompt.updated'],
      description: 'old',
      rate_limit_per_minute: 5,
      header_names: ['X-A', 'X-B'],
    });
    expect(await patch({ headers: { 'X-C': '3' }, description: null })).toMatchObject({
      description: null,
      header_names: ['X-C'],
      rate_limit_per_minute: 5,
    });
    expect((await patch({ headers: {} })).header_names).toEqual([]);
    await patch({ headers: { 'X-D': '4' } });
    const last = await patch({ headers: null, rate_limit_per_minute: null });
    expect(last).toMatchObject({ header_names: [], rate_limit_per_minute: null, events: ['prompt.updated'] });
    expect((await service.call('GET', `/webhooks/${before.id}`)).body).toEqual(last);
  });

  test('another rate begins now, the same one stays', async () => {
    const { id } = await registerWebhook(service, { rate_limit_per_minute: 1 });
    await update(id, `next_slot_at = now() + interval '1 hour'`);
    const nextSlot = async (rate: number) => {
      await service.call('PATCH', `/webhooks/${id}`, { body: { rate_limit_per_minute: rate, description: 'x' } });
      const [row] = await service.dependencies.db.system.query<{ next_slot_at: Date | null }>(
        { text: 'select next_slot_at from webhooks where id = $1' },
        [uuidOf(id)],
      );
      return row?.next_slot_at ?? null;
    };
    expect(await nextSlot(1)).toBeInstanceOf(Date);
    expect(await nextSlot(60)).toBeNull();
  });

  test.each([
    ['', {}],
    ['secret', { secret: 'x'.repeat(30) }],
    ['status', { status: 'disabled' }],
    ['url', { url: 'http://10.1.2.3/' }],
    ['url', { url: null }],
    ['events', { events: [] }],
    ['events', { events: null }],
    ['headers.Host', { headers: { Host: 'x' } }],
    ['rate_limit_per_minute', { rate_limit_per_minute: 6001 }],
  ])('refuses a wrong %s: %j', async (path, body) => {
    const { id } = await registerWebhook(service);
    const answer = await service.call('PATCH', `/webhooks/${id}`, { body });
    expect([answer.status, detailsOf(answer.body).map((detail) => detail.path)]).toEqual([400, [path]]);
  });

  test('two changes at once both take effect', async () => {
    const { id } = await registerWebhook(service);
    const path = `/webhooks/${id}`;
    await Promise.all([
      service.call('PATCH', path, { body: { description: 'new' } }),
      service.call('PATCH', path, { body: { rate_limit_per_minute: 7 } }),
      service.call('PATCH', path, { body: { events: ['prompt.updated'] } }),
    ]);
    expect((await service.call('GET', path)).body).toMatchObject({
      description: 'new',
      rate_limit_per_minute: 7,
      events: ['prompt.updated'],
    });
  });
});

describe('deleting', () => {
  test('returns the record, and then finds nothing', async () => {
    const { secret: _, ...record } = await registerWebhook(service, { headers: { 'X-A': '1' } });
    const deleted = await service.call('DELETE', `/webhooks/${record.id}`);
    expect([deleted.status, deleted.body]).toEqual([200, record]);
    expect((await service.call('DELETE', `/webhooks/${record.id}`)).status).toBe(404);
    expect((await service.call('GET', `/webhooks/${record.id}`)).status).toBe(404);
  });

  test('abandons undelivered events, and leaves the rest', async () => {
    const [{ id }, other] = [await registerWebhook(service), await registerWebhook(service)];
    await storeDelivery(service, id, { status: 'delivered' });
    await storeDelivery(service, id, { status: 'waiting' });
    const unstarted = await storeDelivery(service, id, { status: 'queued', started: false });
    await storeDelivery(service, other.id, { status: 'queued' });
    await service.call('DELETE', `/webhooks/${id}`);
    expect(await deliveriesOf(id)).toMatchObject([
      { status: 'delivered', status_reason: null, to_end: false },
      { status: 'abandoned', status_reason: 'The webhook was deleted.', to_end: true },
      { status: 'abandoned', status_reason: 'The webhook was deleted.', to_end: false },
    ]);
    expect(await deliveriesOf(other.id)).toMatchObject([{ status: 'queued' }]);
    expect((await service.call('GET', `/webhooks/${id}/deliveries`)).status).toBe(404);
    expect((await service.call('GET', `/deliveries/${unstarted}`)).body).toMatchObject({
      webhook_id: id,
      status: 'abandoned',
      finished_at: expect.any(String),
    });
  });
});

describe('enabling and disabling', () => {
  test('disabling abandons undelivered events; a second time changes nothing', async () => {
    const { id } = await registerWebhook(service);
    await storeDelivery(service, id, { status: 'waiting' });
    const disabled = await service.call('POST', `/webhooks/${id}/disable`);
    expect(disabled).toMatchObject({
      status: 200,
      body: { id, status: 'disabled', disabled_reason: 'disabled by request' },
    });
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'abandoned', status_reason: 'The webhook was disabled.' }]);
    expect((await service.call('POST', `/webhooks/${id}/disable`)).body).toEqual(disabled.body);
  });

  test('disabling a disabled one keeps its reason', async () => {
    const { id } = await registerWebhook(service);
    await update(id, `status = 'disabled', disabled_reason = 'a delivery has failed 6 times'`);
    const { body } = await service.call('POST', `/webhooks/${id}/disable`);
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'a delivery has failed 6 times' });
  });

  test('enabling restarts it; a second time changes nothing', async () => {
    const { id } = await registerWebhook(service);
    await update(
      id,
      `status = 'disabled', disabled_reason = 'why', consecutive_failures = 6, next_slot_at = now() + interval '1 hour'`,
    );
    const enabled = await service.call('POST', `/webhooks/${id}/enable`);
    expect(enabled).toMatchObject({
      status: 200,
      body: { id, status: 'enabled', disabled_reason: null, consecutive_failures: 0 },
    });
    const [row] = await service.dependencies.db.system.query(
      { text: 'select next_slot_at from webhooks where id = $1' },
      [uuidOf(id)],
    );
    expect(row).toEqual({ next_slot_at: null });
    await update(id, 'consecutive_failures = 2');
    expect((await service.call('POST', `/webhooks/${id}/enable`)).body).toEqual({
      ...enabled.body,
      consecutive_failures: 2,
    });
  });

  test('whatever arrives at once, a disabled webhook has nothing left to send', async () => {
    const { id } = await registerWebhook(service);
    const done = await storeDelivery(service, id);
    const since = { since: '2026-01-01T00:00:00Z' };
    const outcomes = new Set<string>();
    for (let round = 0; round < 8; round++) {
      const answers = await Promise.all(
        [
          () => service.call('POST', `/webhooks/${id}/enable`),
          () => service.call('POST', `/deliveries/${done}/redeliver`),
          () => service.call('POST', `/webhooks/${id}/disable`),
          () => service.call('POST', `/webhooks/${id}/replay`, { body: since }),
          () => service.call('POST', `/webhooks/${id}/test`, { headers: { Prefer: 'respond-async' } }),
          () => service.call('POST', `/webhooks/${id}/${round % 2 ? 'enable' : 'disable'}`),
        ].map((send) => send()),
      );
      for (const { status, body } of answers)
        if (status >= 400) expect([status, body.error.code]).toEqual([400, 'invalid_state']);
      const webhook = (await service.call('GET', `/webhooks/${id}`)).body;
      outcomes.add(webhook.status);
      expect(webhook.disabled_reason).toBe(webhook.status === 'enabled' ? null : 'disabled by request');
      if (webhook.status === 'disabled')
        expect((await deliveriesOf(id)).filter(({ status }) => status === 'queued')).toEqual([]);
    }
    expect(outcomes.has('disabled')).toBe(true);
  });

  test('simultaneous deleting leaves nothing to send either', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await registerWebhook(service);
      const done = await storeDelivery(service, id);
      const [deleted, ...others] = await Promise.all([
        service.call('DELETE', `/webhooks/${id}`),
        service.call('POST', `/deliveries/${done}/redeliver`),
        service.call('POST', `/webhooks/${id}/enable`),
        service.call('POST', `/webhooks/${id}/disable`),
        service.call('PATCH', `/webhooks/${id}`, { body: { description: 'x' } }),
        service.call('POST', `/webhooks/${id}/rotate-secret`),
      ]);
      expect(deleted.status).toBe(200);
      for (const { status } of others) expect([200, 201, 400, 404]).toContain(status);
      expect((await deliveriesOf(id)).filter(({ status }) => status === 'queued')).toEqual([]);
    }
  });
});

describe('a test that nothing sends', () => {
  test('returns the current delivery when the caller waited long enough', async () => {
    const { id } = await registerWebhook(service);
    const from = performance.now();
    const { status, body } = await service.call('POST', `/webhooks/${id}/test`, { headers: { Prefer: 'wait=1' } });
    expect([status, body.status, body.attempts]).toEqual([201, 'queued', []]);
    expect(performance.now() - from).toBeGreaterThan(900);
  });

  test('returns as soon as it is abandoned', async () => {
    const { id } = await registerWebhook(service);
    const from = performance.now();
    const testing = service.call('POST', `/webhooks/${id}/test`, { headers: { Prefer: 'wait=15' } });
    await waitFor('the delivery', async () => (await deliveriesOf(id)).length);
    await service.call('POST', `/webhooks/${id}/disable`);
    const { status, body } = await testing;
    expect([status, body.status, body.status_reason]).toEqual([201, 'abandoned', 'The webhook was disabled.']);
    // Without a signal, it waits for its 15 s.
    expect(performance.now() - from).toBeLessThan(14_000);
  });
});
