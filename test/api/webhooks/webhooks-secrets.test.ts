import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { dumpDatabase, HOOK, registerWebhook, updateWebhookRow, uuidOf } from './webhooks-support.ts';

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

  test('are stored encrypted, and shown only on creation', async () => {
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

  test('without a configured key still allow listing, fixing and deleting a webhook', async () => {
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
