import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EVENT_TYPES, SAMPLE_DATA } from '../../../src/domain/webhooks/events.ts';
import { xSignature } from '../../../src/domain/webhooks/webhook-signature.ts';
import { answering, type Received, type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { registerWebhook, storeEvent } from './webhooks-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_RETRY_WAITS: '50ms,50ms', WEBHOOK_TIMEOUT: '1s' });
});
afterAll(() => service?.stop());

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const register = (over: object = {}) => registerWebhook(service, { url: receiver.url, ...over });

/** The delivery when it has ended. */
const ended = (id: string) =>
  waitFor(`the end of ${id}`, async () => {
    const { body } = await service.call('GET', `/deliveries/${id}`);
    return body.finished_at === null ? undefined : body;
  });

describe('a test', () => {
  test('sends a signed example, and reports the result', async () => {
    receiver.respond = (_, response) => void response.writeHead(202).end('thanks');
    const { id, secret } = await register({ headers: { 'X-Tenant': 'acme' } });
    const { status, body } = await service.call('POST', `/webhooks/${id}/test`);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^dlv_/),
      webhook_id: id,
      event_id: expect.stringMatching(/^evt_/),
      event: 'prompt.created',
      trigger: 'test',
      status: 'delivered',
      status_reason: null,
      attempts_made: 1,
      next_attempt_at: null,
      workflow_id: null,
      finished_at: expect.any(String),
      attempts: [{ attempt: 1, status: 202, response_body: 'thanks', error: null, duration_ms: expect.any(Number) }],
    });
    expect((await service.call('GET', `/deliveries/${body.id}`)).body).toEqual(body);
    const [got] = await receiver.got(1);
    expect(got?.headers).toMatchObject({
      'x-tenant': 'acme',
      'x-event-id': body.event_id,
      'x-delivery-id': body.id,
      'x-signature': xSignature(got?.raw ?? Buffer.alloc(0), secret),
    });
    expect(got?.body).toEqual({
      event: 'prompt.created',
      data: SAMPLE_DATA['prompt.created'],
      timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
  });

  test.each(EVENT_TYPES)('can be of %s, subscribed to or not', async (event) => {
    const { id } = await register({ events: ['execution.failed', 'prompt.updated'] });
    const { body } = await service.call('POST', `/webhooks/${id}/test`, { body: { event } });
    expect(body).toMatchObject({ event, status: 'delivered' });
    const [got] = await receiver.got(1);
    expect(got?.body).toMatchObject({ event, data: SAMPLE_DATA[event] });
  });

  test('is of the first subscribed event, unless another is named', async () => {
    const { id } = await register({ events: ['execution.failed', 'prompt.updated'] });
    for (const options of [{}, { body: {} }])
      expect((await service.call('POST', `/webhooks/${id}/test`, options)).body.event).toBe('execution.failed');
    const { status, body } = await service.call('POST', `/webhooks/${id}/test`, { body: { event: 'x' } });
    expect([status, body.error.details[0].path]).toEqual([400, 'event']);
  });

  test('that fails is not retried, disables nothing and counts for nothing', async () => {
    receiver.respond = answering(500);
    const { id } = await register();
    const { status, body } = await service.call('POST', `/webhooks/${id}/test`);
    expect([status, body.status, body.attempts.length, body.attempts[0].status]).toEqual([201, 'failed', 1, 500]);
    expect(body.attempts[0].error).toMatch(/500/);
    expect((await service.call('GET', `/webhooks/${id}`)).body).toMatchObject({
      status: 'enabled',
      consecutive_failures: 0,
    });
    expect(receiver.received).toHaveLength(1);
  });

  test('without an answer reports so when its time is over', async () => {
    receiver.respond = () => {};
    const { id } = await register();
    const { body } = await service.call('POST', `/webhooks/${id}/test`);
    expect(body).toMatchObject({
      status: 'failed',
      attempts: [{ status: null, error: expect.stringMatching(/timed out/) }],
    });
  });

  test('answers sooner if the caller wants to wait less', async () => {
    const { id } = await register();
    let answer = () => {};
    receiver.respond = (_, response) => {
      answer = () => void response.end();
    };
    for (const prefer of ['respond-async', 'wait=0']) {
      const { status, body } = await service.call('POST', `/webhooks/${id}/test`, { headers: { Prefer: prefer } });
      expect([status, body.status, body.attempts]).toEqual([201, 'queued', []]);
    }
    await receiver.got(2);
    answer();
    expect((await service.call('POST', `/webhooks/${id}/test`, { headers: { Prefer: 'wait=x' } })).status).toBe(400);
  });

  test('ends when the webhook is disabled; a disabled one cannot be tested', async () => {
    const { id } = await register();
    receiver.respond = async (_, response) => {
      await service.call('POST', `/webhooks/${id}/disable`);
      response.end();
    };
    const { body } = await service.call('POST', `/webhooks/${id}/test`);
    expect(['abandoned', 'delivered']).toContain(body.status);
    const refused = await service.call('POST', `/webhooks/${id}/test`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_state']);
    expect(refused.body.error.message).toMatch(/enable it first/);
  });

  test('is not in the list of events, but can be read', async () => {
    const { id } = await register();
    const { body } = await service.call('POST', `/webhooks/${id}/test`);
    const { data } = (await service.call('GET', '/events?limit=1000')).body;
    expect(data.map((event: { id: string }) => event.id)).not.toContain(body.event_id);
    expect((await service.call('GET', `/events/${body.event_id}`)).body).toMatchObject({
      id: body.event_id,
      data: SAMPLE_DATA['prompt.created'],
    });
  });

  test('goes only to the one webhook', async () => {
    const other = await startReceiver();
    await registerWebhook(service, { url: other.url });
    const { id } = await register();
    await service.call('POST', `/webhooks/${id}/test`);
    await service.call('POST', `/webhooks/${id}/test`);
    expect(receiver.received).toHaveLength(2);
    expect(other.received).toHaveLength(0);
    await other.close();
  });

  test('with the same Idempotency-Key is sent once, and all wait for it', async () => {
    const { id } = await register();
    const options = { headers: { 'Idempotency-Key': `test-${id}` } };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.call('POST', `/webhooks/${id}/test`, options)),
    );
    for (const { status, body } of answers) {
      expect([status, body.status]).toEqual([201, 'delivered']);
      expect(body).toEqual(answers[0]?.body);
    }
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a rotated secret', () => {
  const signaturesOf = async (id: string) => {
    await service.call('POST', `/webhooks/${id}/test`);
    const last = receiver.received.at(-1);
    const raw = last?.raw ?? Buffer.alloc(0);
    return { now: last?.headers['x-signature'], before: last?.headers['x-signature-previous'], raw };
  };

  test('signs at once, the last one signs as well for a day, and an older one no more', async () => {
    const first = await register();
    const path = `/webhooks/${first.id}`;
    const rotate = async (options: object = {}) => (await service.call('POST', `${path}/rotate-secret`, options)).body;
    const second = await rotate();
    const { secret: _, ...record } = second;
    expect((await service.call('GET', path)).body).toEqual(record);
    expect(second.secret).toMatch(/^whsec_/);
    const overlap = Date.parse(second.previous_secret_expires_at) - Date.now();
    expect(overlap).toBeGreaterThan(23.9 * 60 * 60 * 1000);
    expect(overlap).toBeLessThan(24.1 * 60 * 60 * 1000);
    const one = await signaturesOf(first.id);
    expect([one.now, one.before]).toEqual([xSignature(one.raw, second.secret), xSignature(one.raw, first.secret)]);

    const third = await rotate({ body: { secret: 'of-my-own-choice-and-long-enough' } });
    expect(third.secret).toBe('of-my-own-choice-and-long-enough');
    const two = await signaturesOf(first.id);
    expect([two.now, two.before]).toEqual([xSignature(two.raw, third.secret), xSignature(two.raw, second.secret)]);

    await service.dependencies.db.system.query({
      text: `update webhooks set previous_secret_expires_at = now() - interval '1 second'`,
    });
    const three = await signaturesOf(first.id);
    expect([three.now, three.before]).toEqual([xSignature(three.raw, third.secret), undefined]);
    expect((await service.call('GET', path)).body.previous_secret_expires_at).toBeNull();
  });

  test('is shown again to a repeated request, and rotated once', async () => {
    const { id } = await register();
    const options = { headers: { 'Idempotency-Key': `rotate-${id}` } };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.call('POST', `/webhooks/${id}/rotate-secret`, options)),
    );
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
    const { now, raw } = await signaturesOf(id);
    expect(now).toBe(xSignature(raw, answers[0]?.body.secret));
  });

  test.each([
    ['secret', { secret: 'short' }],
    ['secret', { secret: null }],
    ['url', { url: 'https://example.com/' }],
  ])('must have a valid %s: %j', async (path, body) => {
    const { id } = await register();
    const answer = await service.call('POST', `/webhooks/${id}/rotate-secret`, { body });
    expect([answer.status, answer.body.error.details[0].path]).toEqual([400, path]);
  });
});

describe('a redelivery', () => {
  test('sends the same event again, in its own delivery', async () => {
    const { id } = await register({ events: ['prompt.updated'] });
    await service.call('POST', '/prompts', { body: { name: 'again', template: 'one', model: 'sandbox/echo' } });
    await service.call('POST', '/prompts', { body: { name: 'again', template: 'two', model: 'sandbox/echo' } });
    const [first] = await receiver.got(1);
    const old = await ended(String(first?.headers['x-delivery-id']));
    expect(old).toMatchObject({ event: 'prompt.updated', trigger: 'event', status: 'delivered' });
    const { status, body } = await service.call('POST', `/deliveries/${old.id}/redeliver`);
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^dlv_/),
        webhook_id: id,
        event_id: old.event_id,
        event: 'prompt.updated',
        trigger: 'redelivery',
        status: 'queued',
        status_reason: null,
        attempts_made: 0,
        next_attempt_at: null,
        workflow_id: null,
        created_at: expect.any(String),
        finished_at: null,
      },
    ]);
    const [, second] = await receiver.got(2);
    expect(second?.raw).toEqual(first?.raw);
    expect(second?.headers).toMatchObject({ 'x-event-id': old.event_id, 'x-delivery-id': body.id });
    expect(await ended(body.id)).toMatchObject({ status: 'delivered' });
  });
});

describe('a replay', () => {
  const replay = async (id: string, body: object) =>
    (await service.call('POST', `/webhooks/${id}/replay`, { body })).body;

  test('sends events missed while the webhook was disabled', async () => {
    const { id } = await register({ events: ['evaluation.completed'] });
    const since = new Date(Date.now() - 1_000).toISOString();
    await service.call('POST', `/webhooks/${id}/disable`);
    const missed = [await storeEvent(service, { type: 'evaluation.completed' })];
    missed.push(await storeEvent(service, { type: 'evaluation.completed' }));
    await service.call('POST', `/webhooks/${id}/enable`);
    expect(await replay(id, { since, undelivered_only: true })).toEqual({ replayed: 2 });
    const got = await receiver.got(2);
    expect(new Set(got.map(({ headers }) => headers['x-event-id']))).toEqual(new Set(missed));
    const { data } = (await service.call('GET', `/webhooks/${id}/deliveries`)).body;
    for (const delivery of data)
      expect(await ended(delivery.id)).toMatchObject({ trigger: 'replay', status: 'delivered' });
    expect(await replay(id, { since, undelivered_only: true })).toEqual({ replayed: 0 });
    expect(await replay(id, { since })).toEqual({ replayed: 2 });
    await receiver.got(4);
  });

  test('of many events does not delay single redeliveries', async () => {
    const many = 400;
    const isTest = ({ headers }: Received) => headers['x-webhook-test'] === 'true';
    // The receiver is slow until it gets the test: the replay must still be running when it is requested.
    receiver.respond = async (request, response) => {
      if (!isTest(request) && !receiver.received.some(isTest)) await delay(250);
      response.writeHead(200).end();
    };
    const { id } = await register({ events: ['evaluation.regression'] });
    const since = new Date('2025-06-01T00:00:00Z');
    await Promise.all(
      Array.from({ length: many }, (_, n) =>
        storeEvent(service, { type: 'evaluation.regression', at: new Date(since.getTime() + n) }),
      ),
    );
    expect(await replay(id, { since, until: '2025-06-02T00:00:00Z' })).toEqual({ replayed: many });
    await receiver.got(1);
    const { body } = await service.call('POST', `/webhooks/${id}/test`);
    // On a busy machine its request may end before it is delivered.
    expect(await ended(body.id)).toMatchObject({ status: 'delivered', attempts: [{ status: 200, error: null }] });
    const place = receiver.received.findIndex(isTest);
    expect(place).toBeLessThan(many - 1);
    await receiver.got(many + 1);
  });
});
