import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { startApi } from '../../../src/api/server.ts';
import { DEFAULT_EVENT_TYPES } from '../../../src/domain/webhooks/events.ts';
import type { RunningServer } from '../../../src/http/http-server.ts';
import { type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { detailsOf, HOOK, registerWebhook } from './webhooks-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

/** By default. */
const MAX_WEBHOOKS = 100;

describe('registering', () => {
  test('needs only an address: the specified events, its own secret, enabled', async () => {
    const { status, body } = await service.call('POST', '/webhooks', { body: { url: HOOK } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      url: HOOK,
      events: [...DEFAULT_EVENT_TYPES],
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

  test('accepts all fields', async () => {
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
  ])('refuses the header %s, which the caller cannot set', async (name) => {
    const { status, body } = await service.call('POST', '/webhooks', { body: { url: HOOK, headers: { [name]: 'x' } } });
    expect([status, detailsOf(body)[0]?.path]).toEqual([400, `headers.${name}`]);
    expect(JSON.stringify(body)).not.toContain('"x"');
  });

  test('takes 20 headers of 4 KiB', async () => {
    const headers = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`X-${index}`, 'x'.repeat(4_096)]));
    expect((await registerWebhook(service, { headers })).header_names).toHaveLength(20);
  });

  test('accepts plain http and private addresses only if the operator allows them', async () => {
    const { dependencies, key } = service;
    const [strict, open] = await Promise.all(
      (['false', 'true'] as const).map((allowPrivate) =>
        startApi({ ...dependencies, allowPrivate, registry: new Registry() }, { eager: false }),
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

  test('with one Idempotency-Key happens once, and the secret is shown again to the same request', async () => {
    const { call } = await createOtherWorkspace(service, 'repeats');
    const options = { body: { url: HOOK }, headers: { 'Idempotency-Key': 'one' } };
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/webhooks', options)));
    for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
    expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    expect((await call('GET', '/webhooks')).body.data).toHaveLength(1);
    const other = await call('POST', '/webhooks', { ...options, body: { url: `${HOOK}/2` } });
    expect([other.status, other.body.error.code]).toEqual([400, 'idempotency_key_reused']);
  });

  test(`more than ${MAX_WEBHOOKS} in a workspace is refused, even at the same time`, async () => {
    const { call } = await createOtherWorkspace(service, 'many');
    const answers = await Promise.all(
      Array.from({ length: MAX_WEBHOOKS + 8 }, () => call('POST', '/webhooks', { body: { url: HOOK } })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(
      Array.from({ length: 8 }, () => [429, 'quota_exceeded']),
    );
    expect(refused[0]?.body.error.message).toMatch(/Delete some/);
    const { body } = await call('GET', '/webhooks?limit=1000');
    expect(body.data).toHaveLength(MAX_WEBHOOKS);
    expect((await call('DELETE', `/webhooks/${body.data[0].id}`)).status).toBe(200);
    expect((await call('POST', '/webhooks', { body: { url: HOOK } })).status).toBe(201);
    // Other workspaces have their own quota.
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
