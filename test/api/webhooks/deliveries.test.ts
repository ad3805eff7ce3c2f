import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { v7 } from 'uuid';
import type { DeliveryStatus } from '../../../src/domain/webhooks/delivery-states.ts';
import { MAX_REPLAYED } from '../../../src/services/webhooks/deliveries/replay-events.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { dumpDatabase, registerWebhook, storeDelivery, storeEvent, uuidOf } from './webhooks-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const system = () => service.dependencies.db.system;
const time = (text: string) => new Date(`2026-03-${text}Z`);
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

describe('the deliveries of a webhook', () => {
  test('are listed newest first, by pages, with filters', async () => {
    const [{ id }, other] = [await registerWebhook(service), await registerWebhook(service)];
    const ids = [
      await storeDelivery(service, id, { status: 'delivered', type: 'prompt.created', at: time('01T00:00:00') }),
      await storeDelivery(service, id, { status: 'failed', type: 'prompt.updated', at: time('02T00:00:00') }),
      await storeDelivery(service, id, { status: 'waiting', type: 'prompt.created', at: time('03T00:00:00') }),
    ].reverse();
    await storeDelivery(service, other.id);
    const list = async (query: string) => (await service.call('GET', `/webhooks/${id}/deliveries${query}`)).body;
    const all = await list('');
    expect([idsOf(all), all.next_cursor]).toEqual([ids, null]);
    const first = await list('?limit=2');
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    expect(idsOf(await list(`?limit=2&cursor=${first.next_cursor}`))).toEqual(ids.slice(2));
    expect(idsOf(await list('?status=failed'))).toEqual([ids[1]]);
    expect(idsOf(await list('?event=prompt.created'))).toEqual([ids[0], ids[2]]);
    expect(idsOf(await list('?since=2026-03-02T00:00:00Z'))).toEqual(ids.slice(0, 2));
    expect(idsOf(await list('?until=2026-03-02T00:00:00Z'))).toEqual(ids.slice(2));
    expect(idsOf(await list('?event=prompt.created&status=waiting&since=2026-03-01T00:00:00Z'))).toEqual([ids[0]]);
    for (const query of ['?status=done', '?event=x', '?since=yesterday', '?cursor=x', '?trigger=test'])
      expect([query, (await service.call('GET', `/webhooks/${id}/deliveries${query}`)).status]).toEqual([query, 400]);
  });

  test('have the whole record, including each attempt, one by one', async () => {
    const { id } = await registerWebhook(service);
    const eventId = await storeEvent(service, { type: 'execution.failed' });
    const delivery = await storeDelivery(service, id, { eventId, status: 'waiting', at: time('04T00:00:00') });
    await system().query(
      {
        text: `update deliveries set attempts_made = 2, status_reason = 'why', next_attempt_at = $2, started_at = $2 where id = $1`,
      },
      [uuidOf(delivery), time('04T01:00:00')],
    );
    await system().query(
      {
        text: `insert into delivery_attempts (delivery_id, attempt, started_at, duration_ms, status, response_body, error, request) values
                 ($1, 2, $2, 10000, null, null, 'timed out after 10 s', null), ($1, 1, $2, 12, 503, 'no', 'status 503', $3)`,
      },
      [
        uuidOf(delivery),
        time('04T00:00:01'),
        JSON.stringify({ url: 'https://example.com/hooks', headers: { 'X-Tenant': '(hidden)' } }),
      ],
    );
    const record = {
      id: delivery,
      webhook_id: id,
      event_id: eventId,
      event: 'execution.failed',
      trigger: 'event',
      status: 'waiting',
      status_reason: 'why',
      attempts_made: 2,
      next_attempt_at: '2026-03-04T01:00:00.000Z',
      workflow_id: `webhook-delivery/${eventId}/${id}`,
      created_at: '2026-03-04T00:00:00.000Z',
      finished_at: null,
    };
    const startedAt = '2026-03-04T00:00:01.000Z';
    expect((await service.call('GET', `/webhooks/${id}/deliveries`)).body.data).toEqual([record]);
    const request = { url: 'https://example.com/hooks', headers: { 'X-Tenant': '(hidden)' } };
    const one = { attempt: 1, started_at: startedAt, status: 503, duration_ms: 12, response_body: 'no', request };
    const two = {
      attempt: 2,
      started_at: startedAt,
      status: null,
      duration_ms: 10_000,
      response_body: null,
      request: null,
    };
    expect((await service.call('GET', `/deliveries/${delivery}`)).body).toEqual({
      ...record,
      request_body: expect.stringMatching(/^\{"event":"execution.failed","data":\{"a":1\},"timestamp":"[^"]+"\}$/),
      attempts: [
        { ...one, error: 'status 503' },
        { ...two, error: 'timed out after 10 s' },
      ],
    });
  });
});

describe('sending one now', () => {
  const sendNow = (id: string, key?: string) =>
    service.call('POST', `/deliveries/${id}/send-now`, key === undefined ? {} : { key });

  test.each(['delivered', 'failed', 'abandoned'] as const)('is refused of one that was %s', async (status) => {
    const { id } = await registerWebhook(service);
    const { status: code, body } = await sendNow(await storeDelivery(service, id, { status }));
    expect([code, body.error.code]).toEqual([400, 'invalid_state']);
    expect(body.error.message).toBe(`This delivery is ${status}: redeliver its event to send it again.`);
  });

  test('is refused before the first attempt ends, and for another workspace', async () => {
    const { id } = await registerWebhook(service);
    const { body } = await sendNow(await storeDelivery(service, id, { status: 'queued' }));
    expect(body.error).toMatchObject({ code: 'invalid_state', message: expect.stringContaining('automatically') });
    const other = await createOtherWorkspace(service, 'send-now');
    const waiting = await storeDelivery(service, id, { status: 'waiting' });
    expect((await sendNow(waiting, other.key)).status).toBe(404);
  });

  test.each([
    ['has no workflow yet', false],
    ['has lost its workflow', true],
  ])('of one that %s makes it due', async (_, started) => {
    const { id } = await registerWebhook(service);
    const waiting = await storeDelivery(service, id, { status: 'waiting', started });
    await system().query({ text: "update deliveries set check_at = now() + interval '6 hours' where id = $1" }, [
      uuidOf(waiting),
    ]);
    const before = Date.now();
    const { status, body } = await sendNow(waiting);
    expect([status, body.status]).toEqual([200, 'waiting']);
    expect(Math.abs(new Date(body.next_attempt_at).getTime() - before)).toBeLessThan(60_000);
    const [row] = await system().query<{ is_due: boolean }>(
      { text: 'select check_at <= now() as is_due from deliveries where id = $1' },
      [uuidOf(waiting)],
    );
    expect(row?.is_due).toBe(true);
    const { body: log } = await service.call('GET', '/audit-log?action=webhook.redelivered');
    expect(log.data[0].details.delivery_id).toBe(waiting);
  });
});

describe('a redelivery', () => {
  const redeliver = (id: string, key?: string) =>
    service.call(
      'POST',
      `/deliveries/${id}/redeliver`,
      key === undefined ? {} : { headers: { 'Idempotency-Key': key } },
    );

  test.each(['delivered', 'failed', 'abandoned'] as const)('can be made of one that was %s', async (status) => {
    const { id } = await registerWebhook(service);
    const old = await storeDelivery(service, id, { status });
    const { body } = await redeliver(old);
    expect(body).toMatchObject({ webhook_id: id, trigger: 'redelivery', status: 'queued' });
    expect(body.id).not.toBe(old);
    expect((await service.call('GET', `/deliveries/${old}`)).body.status).toBe(status);
    expect((await service.call('GET', `/deliveries/${body.id}`)).body).toEqual({
      ...body,
      request_body: expect.stringContaining('"event":"prompt.created"'),
      attempts: [],
    });
  });

  test('of a redelivery is one of the same event', async () => {
    const { id } = await registerWebhook(service);
    const eventId = await storeEvent(service);
    const old = await storeDelivery(service, id, { eventId, trigger: 'redelivery', status: 'failed' });
    expect((await redeliver(old)).body).toMatchObject({ event_id: eventId, trigger: 'redelivery' });
  });

  test('is made once for one Idempotency-Key', async () => {
    const { id } = await registerWebhook(service);
    const old = await storeDelivery(service, id);
    const answers = await Promise.all(Array.from({ length: 5 }, () => redeliver(old, `redeliver-${old}`)));
    for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
    expect((await service.call('GET', `/webhooks/${id}/deliveries`)).body.data).toHaveLength(2);
  });

  test.each(['queued', 'waiting'] as const)('is refused while it is %s', async (status) => {
    const { id } = await registerWebhook(service);
    const { status: answered, body } = await redeliver(await storeDelivery(service, id, { status }));
    expect([answered, body.error.code]).toEqual([400, 'invalid_state']);
    expect(body.error.message).toContain(status);
  });

  test('is refused of a test, and to a webhook that is disabled or gone', async () => {
    const { id } = await registerWebhook(service);
    const [of, done] = [await storeDelivery(service, id, { trigger: 'test' }), await storeDelivery(service, id)];
    const refusal = async (delivery: string) => {
      const { status, body } = await redeliver(delivery);
      expect([status, body.error.code]).toEqual([400, 'invalid_state']);
      return body.error.message;
    };
    expect(await refusal(of)).toMatch(/test the webhook again/);
    await service.call('POST', `/webhooks/${id}/disable`);
    expect(await refusal(done)).toMatch(/enable it first/);
    await service.call('DELETE', `/webhooks/${id}`);
    expect(await refusal(done)).toMatch(/deleted/);
    expect(await dumpDatabase(service)).not.toMatch(new RegExp(`${uuidOf(id)},redelivery`));
  });

  test.each(['dlv_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', 'dlv_x', 'x'])('there is none of %s', async (id) => {
    expect((await redeliver(id)).status).toBe(404);
    expect((await service.call('GET', `/deliveries/${id}`)).status).toBe(404);
  });
});

describe('an event that is cleaned up at the same time', () => {
  const CLEAN_UP = 'with gone as (delete from events where id = $1) delete from deliveries where event_id = $1';

  test('is not sent again: no delivery loses its event', async () => {
    const { id } = await registerWebhook(service, { events: ['execution.completed'] });
    const at = new Date('2023-01-01T00:00:00Z');
    const eventId = await storeEvent(service, { type: 'execution.completed', at });
    const old = await storeDelivery(service, id, { eventId });
    const span = { since: '2023-01-01T00:00:00Z', until: '2023-01-02T00:00:00Z' };
    const requests = await system().transaction(async (query) => {
      await query({ text: 'select from events where id = $1 for update' }, [uuidOf(eventId)]);
      const sent = [
        service.call('POST', `/deliveries/${old}/redeliver`),
        service.call('POST', `/webhooks/${id}/replay`, { body: span }),
      ];
      await waitFor('both to wait', async () => {
        const [row] = await system().query<{ waiting: number }>({
          text: `select count(*)::int as waiting from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock'`,
        });
        return row?.waiting === 2;
      });
      await query({ text: CLEAN_UP }, [uuidOf(eventId)]);
      return sent;
    });
    const [redelivered, replayed] = await Promise.all(requests);
    expect([redelivered?.status, replayed?.status, replayed?.body]).toEqual([404, 201, { replayed: 0 }]);
    const orphans = await system().query({ text: 'select id from deliveries where event_id = $1' }, [uuidOf(eventId)]);
    expect(orphans).toEqual([]);
  });
});

describe('a replay', () => {
  const replay = (id: string, body: object, key?: string) =>
    service.call('POST', `/webhooks/${id}/replay`, {
      body,
      ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
    });
  /** The events of its replayed deliveries, in the order of the deliveries' ids. */
  const replayedTo = async (id: string) =>
    (
      await system().query<{ event: string }>(
        {
          text: `select 'evt_' || event_id as event from deliveries where webhook_id = $1 and trigger = 'replay' order by id`,
        },
        [uuidOf(id)],
      )
    ).map(({ event }) => event);

  test('takes subscribed events of the period, the oldest first', async () => {
    const { id } = await registerWebhook(service, { events: ['prompt.updated', 'execution.completed'] });
    const store = (day: string, over: object = {}) =>
      storeEvent(service, { type: 'prompt.updated', at: new Date(`2025-01-${day}T00:00:00Z`), ...over });
    await store('01');
    const taken = [await store('02'), await store('03', { type: 'execution.completed' }), await store('04')];
    await store('03', { type: 'prompt.created' });
    await store('03', { test: true });
    // Its delivery is about to be made automatically.
    await store('03', { dispatched: false });
    await store('05');
    const span = { since: '2025-01-02T00:00:00Z', until: '2025-01-05T00:00:00Z' };
    const { status, body } = await replay(id, span);
    expect([status, body]).toEqual([201, { replayed: 3 }]);
    expect(await replayedTo(id)).toEqual(taken);
    const rows = (await service.call('GET', `/webhooks/${id}/deliveries`)).body.data;
    for (const row of rows) expect(row).toMatchObject({ trigger: 'replay', status: 'queued', attempts_made: 0 });
    // They are on their way now.
    expect((await replay(id, span)).body).toEqual({ replayed: 0 });
    expect((await replay(id, { since: '2025-01-05T00:00:00+02:00', until: span.until })).body).toEqual({ replayed: 0 });
  });

  test('leaves out deliveries in progress, and on request delivered ones', async () => {
    const [{ id }, other] = [
      await registerWebhook(service, { events: ['execution.failed'] }),
      await registerWebhook(service, { events: ['execution.failed'] }),
    ];
    const store = async (to: string, ...statuses: DeliveryStatus[]) => {
      const eventId = await storeEvent(service, { type: 'execution.failed', at: new Date('2025-02-01T00:00:00Z') });
      for (const [index, status] of statuses.entries())
        await storeDelivery(service, to, { eventId, status, trigger: index === 0 ? 'event' : 'redelivery' });
      return eventId;
    };
    await store(id, 'queued');
    await store(id, 'failed', 'waiting');
    const delivered = [await store(id, 'delivered'), await store(id, 'failed', 'delivered')];
    const missed = [
      await store(id, 'failed'),
      await store(id, 'abandoned', 'failed'),
      await store(id),
      // Events of another webhook do not matter.
      await store(other.id, 'delivered'),
      await store(other.id, 'queued'),
    ];
    const span = { since: '2025-02-01T00:00:00Z', until: '2025-02-02T00:00:00Z' };
    expect((await replay(id, { ...span, undelivered_only: true })).body).toEqual({ replayed: missed.length });
    expect(await replayedTo(id)).toEqual(missed);
    expect((await replay(id, span)).body).toEqual({ replayed: 2 });
    expect((await replayedTo(id)).slice(missed.length)).toEqual(delivered);
  });

  test('takes each event once if several run, and is made once for one Idempotency-Key', async () => {
    const { id } = await registerWebhook(service, { events: ['evaluation.regression'] });
    for (let count = 0; count < 20; count++)
      await storeEvent(service, { type: 'evaluation.regression', at: new Date('2025-03-01T00:00:00Z') });
    const since = { since: '2025-03-01T00:00:00Z' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => replay(id, since)));
    expect(answers.map(({ body }) => body.replayed).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 20]);
    expect(new Set(await replayedTo(id)).size).toBe(20);
    await system().query({ text: `update deliveries set status = 'delivered' where webhook_id = $1` }, [uuidOf(id)]);
    const same = await Promise.all(Array.from({ length: 5 }, () => replay(id, since, `replay-${id}`)));
    for (const { status, body } of same) expect([status, body]).toEqual([201, { replayed: 20 }]);
    expect(await replayedTo(id)).toHaveLength(40);
  });

  test('takes no events of another workspace', async () => {
    const { call } = await createOtherWorkspace(service, 'replays');
    const { body } = await call('POST', '/webhooks', { body: { url: 'https://example.com/' } });
    const replayed = await call('POST', `/webhooks/${body.id}/replay`, { body: { since: '2020-01-01T00:00:00Z' } });
    expect([replayed.status, replayed.body]).toEqual([201, { replayed: 0 }]);
  });

  test('to a disabled webhook is refused', async () => {
    const { id } = await registerWebhook(service);
    await service.call('POST', `/webhooks/${id}/disable`);
    const { status, body } = await replay(id, { since: '2025-01-01T00:00:00Z' });
    expect([status, body.error.code]).toEqual([400, 'invalid_state']);
  });

  test.each([
    ['since', {}],
    ['since', { since: 'yesterday' }],
    ['until', { since: '2025-01-02T00:00:00Z', until: '2025-01-02T00:00:00Z' }],
    ['until', { since: '2025-01-02T00:00:00Z', until: null }],
    ['undelivered_only', { since: '2025-01-02T00:00:00Z', undelivered_only: 'true' }],
    ['event', { since: '2025-01-02T00:00:00Z', event: 'prompt.created' }],
  ])('must have a valid %s: %j', async (path, body) => {
    const { id } = await registerWebhook(service);
    const answer = await replay(id, body);
    expect([answer.status, answer.body.error.details.map((detail: { path: string }) => detail.path)]).toEqual([
      400,
      [path],
    ]);
  });

  test('of too many is refused and makes none; at the limit it keeps their order', async () => {
    const { id } = await registerWebhook(service, { events: ['prompt.updated'] });
    const times = Array.from({ length: MAX_REPLAYED + 1 }, (_, n) => Date.parse('2024-01-01T00:00:00Z') + n * 1_000);
    await system().query(
      {
        text: `insert into events (workspace_id, id, type, data, created_at, dispatched_at)
               select (select id from workspaces where name = 'default'), id, 'prompt.updated', '{}',
                 '2024-01-01T00:00:00Z'::timestamptz + (n - 1) * interval '1 second', now()
               from unnest($1::uuid[]) with ordinality as made (id, n)`,
      },
      [times.map((msecs) => v7({ msecs }))],
    );
    const span = { since: '2024-01-01T00:00:00Z', until: '2024-12-31T00:00:00Z' };
    const refused = await replay(id, span);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.error.message).toMatch(/shorter/);
    expect(await replayedTo(id)).toEqual([]);
    expect((await replay(id, { ...span, since: '2024-01-01T00:00:01Z' })).body).toEqual({ replayed: MAX_REPLAYED });
    const events = await replayedTo(id);
    expect(events).toHaveLength(MAX_REPLAYED);
    expect(events.findIndex((event, index) => index > 0 && event < (events[index - 1] ?? ''))).toBe(-1);
    // Even with many deliveries not yet in the database's statistics.
    await service.call('POST', `/webhooks/${id}/disable`);
    await service.call('POST', `/webhooks/${id}/enable`);
    const newest = new Date(times.at(-10_000) ?? 0).toISOString();
    const again = await replay(id, { ...span, since: newest, undelivered_only: true });
    expect(again.body).toEqual({ replayed: 10_000 });
  });
});
