import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { dumpDatabase, HOOK, registerWebhook, storeDelivery, updateWebhookRow, uuidOf } from './webhooks-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const update = (id: string, assignments: string) => updateWebhookRow(service, id, assignments);

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
  const operations: ['read' | 'write' | 'admin', string, string, object?][] = [
    ['read', 'GET', '/webhooks'],
    ['read', 'GET', '/webhooks/{id}'],
    ['read', 'GET', '/webhooks/{id}/deliveries'],
    ['read', 'GET', '/deliveries/dlv_x'],
    ['read', 'GET', '/events'],
    ['read', 'GET', '/events/evt_x'],
    ['read', 'GET', '/notifications'],
    // With `read`, too: it receives what that scope shows.
    ['admin', 'POST', '/webhooks', { url: HOOK }],
    ['admin', 'PATCH', '/webhooks/{id}', { description: 'x' }],
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
