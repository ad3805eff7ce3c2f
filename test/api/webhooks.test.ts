import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunningServer } from '../../src/api/http-server.ts';
import { startApi } from '../../src/api/server.ts';
import { EVENT_TYPES } from '../../src/domain/events.ts';
import { createRegistry } from '../../src/metrics.ts';
import { MAX_WEBHOOKS } from '../../src/services/webhooks/webhooks.ts';
import { type Call, createCall, startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { dumpDatabase, HOOK, registerWebhook, storeDelivery, uuidOf } from './webhooks-support.ts';
import { createKey, createOtherWorkspace } from './workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const update = (id: string, assignments: string) =>
  service.foundation.db.system.query({ text: `update webhooks set ${assignments} where id = $1` }, [uuidOf(id)]);
const detailsOf = (body: { error: { details: { path: string; message: string }[] } }) => body.error.details;

describe('registering', () => {
  test('takes an address alone: all events, a secret of its own, enabled', async () => {
    const { status, body } = await service.call('POST', '/webhooks', { body: { url: HOOK } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      url: HOOK,
      events: [...EVENT_TYPES],
      description: null,
      status: 'enabled',
      disabled_reason: null,
      consecutive_failures: 0,
      rate_limit_per_minute: null,
      header_names: [],
      previous_secret_expires_at: null,
      last_delivery_at: null,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: body.created_at,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
  });

  test('takes all that can be given', async () => {
    const given = {
      url: 'http://localhost:8080/hook?a=b',
      events: ['evaluation.regression', 'prompt.created'],
      description: 'Für den Bot',
      rate_limit_per_minute: 6000,
    };
    const secret = 'x'.repeat(24);
    const headers = { 'X-Tenant': 'acme', authorization: 'Bearer let-me-in', "!#$%&'*+-.^_`|~0": '' };
    const body = await registerWebhook(service, { ...given, secret, headers });
    expect(body).toMatchObject({ ...given, secret, header_names: ['X-Tenant', 'authorization', "!#$%&'*+-.^_`|~0"] });
    const { secret: _, ...record } = body;
    expect((await service.call('GET', `/webhooks/${body.id}`)).body).toEqual(record);
  });

  test.each([
    ['url', { url: undefined }],
    ['url', { url: null }],
    ['url', { url: '' }],
    ['url', { url: 'example.com/hook' }],
    ['url', { url: 'ftp://example.com/' }],
    ['url', { url: 'http://example.com/' }],
    ['url', { url: 'https://user:pw@example.com/' }],
    ['url', { url: 'https://user@example.com/' }],
    ['url', { url: 'https://example.com/#here' }],
    ['url', { url: 'https://example.com:25/' }],
    ['url', { url: 'https://example.com:99999/' }],
    ['url', { url: 'https://10.0.0.1/' }],
    ['url', { url: 'https://169.254.169.254/latest' }],
    ['url', { url: 'https://[::ffff:10.0.0.1]/' }],
    ['url', { url: 'https://exa mple.com/' }],
    ['url', { url: ' https://example.com/' }],
    ['url', { url: 'https://example.com/\n' }],
    ['url', { url: 'https://exam\tple.com/' }],
    ['url', { url: `https://example.com/${'x'.repeat(2_048)}` }],
    ['events', { events: [] }],
    ['events', { events: null }],
    ['events', { events: ['prompt.created', 'prompt.created'] }],
    ['events.1', { events: ['prompt.created', 'prompt.deleted'] }],
    ['secret', { secret: 'x'.repeat(23) }],
    ['secret', { secret: 'x'.repeat(129) }],
    ['secret', { secret: 'é'.repeat(24) }],
    ['secret', { secret: `whsec_${'-'.repeat(32)}` }],
    ['secret', { secret: null }],
    ['description', { description: 'x'.repeat(501) }],
    ['rate_limit_per_minute', { rate_limit_per_minute: 0 }],
    ['rate_limit_per_minute', { rate_limit_per_minute: 6001 }],
    ['rate_limit_per_minute', { rate_limit_per_minute: 1.5 }],
    ['rate_limit_per_minute', { rate_limit_per_minute: '60' }],
    ['headers', { headers: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'x'])) }],
    ['headers', { headers: ['X-A'] }],
    ['headers.X-A', { headers: { 'X-A': 1 } }],
    ['headers.X-A', { headers: { 'X-A': 'x'.repeat(4_097) } }],
    ['headers.X-A', { headers: { 'X-A': 'a\r\nX-Evil: 1' } }],
    ['headers.X-A', { headers: { 'X-A': 'a\u007f' } }],
    ['headers.X-A', { headers: { 'X-A': 'é' } }],
    ['headers.x-a', { headers: { 'X-A': '1', 'x-a': '2' } }],
    ['headers.', { headers: { '': 'x' } }],
    ['headers.X A', { headers: { 'X A': 'x' } }],
    ['headers.X:A', { headers: { 'X:A': 'x' } }],
    ['headers.Ä', { headers: { Ä: 'x' } }],
    [`headers.${'x'.repeat(101)}`, { headers: { ['x'.repeat(101)]: 'x' } }],
    ['status', { status: 'disabled' }],
  ])('refuses a wrong %s: %j', async (path, over) => {
    const { status, body } = await service.call('POST', '/webhooks', { body: { url: HOOK, ...over } });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(detailsOf(body).map((detail) => detail.path)).toEqual([path]);
    expect(detailsOf(body)[0]?.message.length).toBeGreaterThan(10);
  });

  test.each([
    'Content-Type',
    'content-length',
    'HOST',
    'Connection',
    'transfer-encoding',
    'Accept-Encoding',
    'Expect',
    'upgrade',
    'TE',
    'Trailer',
    'Keep-Alive',
    'proxy-authorization',
    'Proxy-Connection',
    'User-Agent',
    'X-Signature',
    'x-signature-previous',
    'X-Signature-Mine',
    'X-Event-Id',
    'x-delivery-id',
    'X-Delivery-Attempt',
    'webhook-id',
    'Webhook-Signature',
    'webhook-mine',
    'X-Webhook-Test',
  ])('refuses the header %s, which is not the caller’s to set', async (name) => {
    const { status, body } = await service.call('POST', '/webhooks', { body: { url: HOOK, headers: { [name]: 'x' } } });
    expect([status, detailsOf(body)[0]?.path]).toEqual([400, `headers.${name}`]);
    expect(JSON.stringify(body)).not.toContain('"x"');
  });

  test('takes 20 headers of 4 KiB', async () => {
    const headers = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`X-${index}`, 'x'.repeat(4_096)]));
    expect((await registerWebhook(service, { headers })).header_names).toHaveLength(20);
  });

  test('takes plain http and private addresses only as far as the operator allows them', async () => {
    const { foundation, key } = service;
    const [strict, open] = await Promise.all(
      (['false', 'true'] as const).map((allowPrivate) =>
        startApi({ ...foundation, allowPrivate, registry: createRegistry() }, { eager: false }),
      ),
    );
    try {
      const callOn = (api: RunningServer | undefined) => createCall(`http://127.0.0.1:${api?.port}`, key);
      const statuses = async (call: Call) =>
        Promise.all(
          ['http://127.0.0.1:8080/', 'https://localhost/', 'http://10.0.0.1/', 'http://example.com/', HOOK].map(
            async (url) => (await call('POST', '/webhooks', { body: { url } })).status,
          ),
        );
      expect(await statuses(callOn(strict))).toEqual([400, 400, 400, 400, 201]);
      expect(await statuses(service.call)).toEqual([201, 201, 400, 400, 201]);
      expect(await statuses(callOn(open))).toEqual([201, 201, 201, 201, 201]);
      const { id } = await registerWebhook(service);
      const refused = await callOn(strict)('PATCH', `/webhooks/${id}`, { body: { url: 'http://127.0.0.1/' } });
      expect([refused.status, detailsOf(refused.body)[0]?.path]).toEqual([400, 'url']);
    } finally {
      await strict?.close(0);
      await open?.close(0);
    }
  });

  test('with one Idempotency-Key is done once, and the secret is shown again to who repeats the request', async () => {
    const { call } = await createOtherWorkspace(service, 'repeats');
    const options = { body: { url: HOOK }, headers: { 'Idempotency-Key': 'one' } };
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/webhooks', options)));
    for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
    expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    expect((await call('GET', '/webhooks')).body.data).toHaveLength(1);
    const other = await call('POST', '/webhooks', { ...options, body: { url: `${HOOK}/2` } });
    expect([other.status, other.body.error.code]).toEqual([400, 'idempotency_key_reused']);
  });

  test(`more than ${MAX_WEBHOOKS} in a workspace is refused, also when they come at once`, async () => {
    const { call } = await createOtherWorkspace(service, 'many');
    const answers = await Promise.all(
      Array.from({ length: MAX_WEBHOOKS + 8 }, () => call('POST', '/webhooks', { body: { url: HOOK } })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
      Array.from({ length: 8 }, () => [429, 'quota_exceeded']),
    );
    expect(refused[0]?.body.error.message).toMatch(/Delete one/);
    const { body } = await call('GET', '/webhooks?limit=1000');
    expect(body.data).toHaveLength(MAX_WEBHOOKS);
    expect((await call('DELETE', `/webhooks/${body.data[0].id}`)).status).toBe(200);
    expect((await call('POST', '/webhooks', { body: { url: HOOK } })).status).toBe(201);
    // Others have a quota of their own.
    await registerWebhook(service);
  });
});

describe('reading', () => {
  test('lists newest first, by pages, and by status', async () => {
    const { call } = await createOtherWorkspace(service, 'lists');
    const ids: string[] = [];
    for (let count = 0; count < 5; count++)
      ids.unshift((await call('POST', '/webhooks', { body: { url: HOOK } })).body.id);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await call('GET', `/webhooks?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(ids);
    await call('POST', `/webhooks/${ids[1]}/disable`);
    const idsOf = async (status: string) =>
      (await call('GET', `/webhooks?status=${status}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsOf('disabled')).toEqual([ids[1]]);
    expect(await idsOf('enabled')).toEqual(ids.filter((id) => id !== ids[1]));
    expect((await call('GET', '/webhooks?status=off')).status).toBe(400);
  });

  test.each(['wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', 'wh_x', 'x'])('there is no %s', async (id) => {
    const answers = await Promise.all([
      service.call('GET', `/webhooks/${id}`),
      service.call('PATCH', `/webhooks/${id}`, { body: { description: 'x' } }),
      service.call('DELETE', `/webhooks/${id}`),
      ...['enable', 'disable', 'rotate-secret', 'test'].map((name) => service.call('POST', `/webhooks/${id}/${name}`)),
      service.call('POST', `/webhooks/${id}/replay`, { body: { since: '2026-01-01T00:00:00Z' } }),
      service.call('GET', `/webhooks/${id}/deliveries`),
    ]);
    for (const { status, body } of answers) expect([status, body.error.code]).toEqual([404, 'not_found']);
  });
});

describe('changing', () => {
  test('replaces what is given and leaves the rest', async () => {
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

  test('another rate begins now, the same one goes on', async () => {
    const { id } = await registerWebhook(service, { rate_limit_per_minute: 1 });
    await update(id, `next_slot_at = now() + interval '1 hour'`);
    const nextSlot = async (rate: number) => {
      await service.call('PATCH', `/webhooks/${id}`, { body: { rate_limit_per_minute: rate, description: 'x' } });
      const [row] = await service.foundation.db.system.query<{ next_slot_at: Date | null }>(
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

/** Its deliveries in the database. */
const deliveriesOf = (id: string) =>
  service.foundation.db.system.query<{ status: string; status_reason: string | null; to_end: boolean }>(
    { text: 'select id, status, status_reason, to_end from deliveries where webhook_id = $1 order by id' },
    [uuidOf(id)],
  );

describe('deleting', () => {
  test('gives the record, and a second time there is nothing', async () => {
    const { secret: _, ...record } = await registerWebhook(service, { headers: { 'X-A': '1' } });
    const deleted = await service.call('DELETE', `/webhooks/${record.id}`);
    expect([deleted.status, deleted.body]).toEqual([200, record]);
    expect((await service.call('DELETE', `/webhooks/${record.id}`)).status).toBe(404);
    expect((await service.call('GET', `/webhooks/${record.id}`)).status).toBe(404);
  });

  test('abandons what was not yet delivered, and leaves the rest', async () => {
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
  test('disabling abandons what was not yet delivered; a second time changes nothing', async () => {
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

  test('disabling one that was disabled keeps why it was', async () => {
    const { id } = await registerWebhook(service);
    await update(id, `status = 'disabled', disabled_reason = 'a delivery has failed 6 times'`);
    const { body } = await service.call('POST', `/webhooks/${id}/disable`);
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'a delivery has failed 6 times' });
  });

  test('enabling begins anew; a second time changes nothing', async () => {
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
    const [row] = await service.foundation.db.system.query(
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

  test('whatever comes at once, nothing is left to be sent to a webhook that is disabled', async () => {
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

  test('deleting at the same time leaves nothing to be sent either', async () => {
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
  test('is answered with the delivery as it is, when the caller has waited enough', async () => {
    const { id } = await registerWebhook(service);
    const from = performance.now();
    const { status, body } = await service.call('POST', `/webhooks/${id}/test`, { headers: { Prefer: 'wait=1' } });
    expect([status, body.status, body.attempts]).toEqual([201, 'queued', []]);
    expect(performance.now() - from).toBeGreaterThan(900);
  });

  test('is answered as soon as it is abandoned', async () => {
    const { id } = await registerWebhook(service);
    const from = performance.now();
    const testing = service.call('POST', `/webhooks/${id}/test`);
    await waitFor('the delivery', async () => (await deliveriesOf(id)).length);
    await service.call('POST', `/webhooks/${id}/disable`);
    const { status, body } = await testing;
    expect([status, body.status, body.status_reason]).toEqual([201, 'abandoned', 'The webhook was disabled.']);
    expect(performance.now() - from).toBeLessThan(2_500);
  });
});

describe('secrets', () => {
  const SECRET = 'a-secret-of-my-own-choice-1234567890';
  const idempotent = (key: string) => ({ headers: { 'Idempotency-Key': key } });
  const VALUE = 'Bearer value-that-nobody-may-read';

  test('are stored encrypted, and shown by nothing but what made them', async () => {
    const created = await registerWebhook(service, { secret: SECRET, headers: { Authorization: VALUE } });
    const path = `/webhooks/${created.id}`;
    const body = { url: HOOK, headers: { Authorization: VALUE } };
    const second = (await service.call('POST', '/webhooks', { body, ...idempotent('secret-1') })).body;
    const rotated = (await service.call('POST', `${path}/rotate-secret`, idempotent('secret-2'))).body;
    const later = await Promise.all([
      service.call('GET', path),
      service.call('GET', '/webhooks?limit=1000'),
      service.call('PATCH', path, { body: { description: 'x' } }),
      service.call('POST', `${path}/disable`),
      service.call('POST', `${path}/enable`),
      service.call('POST', `${path}/test`, { headers: { Prefer: 'respond-async' } }),
      service.call('GET', `${path}/deliveries`),
      service.call('GET', '/events?limit=1000'),
      service.call('POST', '/webhooks', { body: { url: HOOK, secret: SECRET.slice(0, 20) } }),
    ]);
    const dump = await dumpDatabase(service);
    expect(dump).toContain(uuidOf(created.id));
    const said = later.map((answer) => JSON.stringify(answer.body)).join();
    for (const text of [SECRET, VALUE, 'value-that-nobody', second.secret, rotated.secret]) {
      expect(said).not.toContain(text);
      expect(dump).not.toContain(text);
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        expect(dump).not.toContain(Buffer.from(text).toString(encoding));
    }
    const deleted = await service.call('DELETE', path);
    expect(JSON.stringify(deleted.body)).not.toContain(rotated.secret);
  });

  test('that no configured key opens keep no webhook from being listed, mended or deleted', async () => {
    const [one, two] = [await registerWebhook(service), await registerWebhook(service)];
    for (const { id } of [one, two]) await update(id, `secret = 'lost', headers = 'lost'`);
    const list = await service.call('GET', '/webhooks?limit=2');
    expect(list.body.data).toMatchObject([
      { id: two.id, header_names: null },
      { id: one.id, header_names: null },
    ]);
    const headers = { 'X-A': '1' };
    expect((await service.call('PATCH', `/webhooks/${one.id}`, { body: { headers } })).body.header_names).toEqual([
      'X-A',
    ]);
    const rotated = await service.call('POST', `/webhooks/${one.id}/rotate-secret`);
    expect([rotated.status, rotated.body.secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
    expect((await service.call('DELETE', `/webhooks/${two.id}`)).status).toBe(200);
  });
});

describe('with a key of its own', () => {
  const since = { since: '2026-01-01T00:00:00Z' };
  const operations: ['read' | 'write', string, string, object?][] = [
    ['read', 'GET', '/webhooks'],
    ['read', 'GET', '/webhooks/{id}'],
    ['read', 'GET', '/webhooks/{id}/deliveries'],
    ['read', 'GET', '/deliveries/dlv_x'],
    ['read', 'GET', '/events'],
    ['read', 'GET', '/events/evt_x'],
    ['read', 'GET', '/notifications'],
    ['write', 'POST', '/webhooks', { url: HOOK }],
    ['write', 'PATCH', '/webhooks/{id}', { description: 'x' }],
    ['write', 'POST', '/webhooks/{id}/enable'],
    ['write', 'POST', '/webhooks/{id}/rotate-secret'],
    ['write', 'POST', '/webhooks/{id}/replay', since],
    ['write', 'POST', '/webhooks/{id}/test'],
    ['write', 'POST', '/webhooks/{id}/disable'],
    ['write', 'POST', '/deliveries/dlv_x/redeliver'],
    ['write', 'DELETE', '/webhooks/{id}'],
  ];

  test.each(['read', 'execute', 'write', 'admin'] as const)(
    '%s opens what it should and nothing else',
    async (scope) => {
      const { key } = await createKey(service, scope);
      const { id } = await registerWebhook(service);
      for (const [needed, method, path, body] of operations) {
        const answer = await service.call(method, path.replace('{id}', id), {
          key,
          headers: { Prefer: 'respond-async' },
          ...(body && { body }),
        });
        const allowed = scope === 'admin' || scope === needed;
        expect([method, path, answer.body.error?.code === 'insufficient_scope']).toEqual([method, path, !allowed]);
        if (!allowed) expect(answer.status).toBe(401);
      }
    },
  );

  test('another workspace finds nothing, and changes nothing', async () => {
    const { id } = await registerWebhook(service);
    const delivery = await storeDelivery(service, id, { status: 'waiting' });
    const before = (await service.call('GET', `/webhooks/${id}`)).body;
    const { call } = await createOtherWorkspace(service, 'stranger');
    for (const [, method, path, body] of operations) {
      if (!path.includes('_x') && !path.includes('{id}')) continue;
      const at = path.replace('{id}', id).replace('dlv_x', delivery);
      const { status } = await call(method, at, { ...(body && { body }) });
      expect([method, path, status]).toEqual([method, path, 404]);
    }
    for (const list of ['/webhooks', '/events', '/notifications'])
      expect((await call('GET', list)).body.data).toEqual([]);
    expect((await service.call('GET', `/webhooks/${id}`)).body).toEqual(before);
    expect((await service.call('GET', `/deliveries/${delivery}`)).body.status).toBe('waiting');
  });
});
