import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { registerWebhook, storeEvent, uuidOf } from './webhooks-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

const list = async (query: string) => (await service.call('GET', query)).body;
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

describe('events', () => {
  test('show the same changes as webhooks', async () => {
    const body = { name: 'support/greeting', template: 'Hi', model: 'sandbox/echo', commit_message: 'first' };
    await service.call('POST', '/prompts', { body });
    const [event] = (await list('/events?limit=1')).data;
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
      event: 'prompt.created',
      data: {
        prompt_name: 'support/greeting',
        version: 1,
        previous_version: null,
        model: 'sandbox/echo',
        commit_message: 'first',
      },
      timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
    expect((await service.call('GET', `/events/${event.id}`)).body).toEqual(event);
  });

  test('are listed newest first, by pages, with filters, and without those of tests', async () => {
    const at = (day: string) => new Date(`2025-05-${day}T00:00:00Z`);
    const ids = [
      await storeEvent(service, { type: 'prompt.created', at: at('01') }),
      await storeEvent(service, { type: 'execution.failed', at: at('02') }),
      await storeEvent(service, { type: 'prompt.created', at: at('03') }),
    ].reverse();
    await storeEvent(service, { type: 'prompt.created', at: at('02'), test: true });
    const span = 'since=2025-05-01T00:00:00Z&until=2025-05-04T00:00:00Z';
    expect(idsOf(await list(`/events?${span}`))).toEqual(ids);
    const first = await list(`/events?${span}&limit=2`);
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    const second = await list(`/events?${span}&limit=2&cursor=${first.next_cursor}`);
    expect([idsOf(second), second.next_cursor]).toEqual([ids.slice(2), null]);
    expect(idsOf(await list(`/events?${span}&event=execution.failed`))).toEqual([ids[1]]);
    expect(idsOf(await list('/events?since=2025-05-02T00:00:00Z&until=2025-05-03T00:00:00Z'))).toEqual([ids[1]]);
    for (const query of ['event=x', 'since=1', 'until=', 'cursor=eA', 'type=prompt.created'])
      expect([query, (await service.call('GET', `/events?${query}`)).status]).toEqual([query, 400]);
  });

  test.each(['evt_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', 'evt_x', 'x'])('there is no %s', async (id) => {
    const { status, body } = await service.call('GET', `/events/${id}`);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  test('of another workspace are not visible', async () => {
    const id = await storeEvent(service);
    const { call } = await createOtherWorkspace(service, 'events');
    expect((await call('GET', '/events')).body).toEqual({ data: [], next_cursor: null });
    expect((await call('GET', `/events/${id}`)).status).toBe(404);
  });
});

describe('notifications', () => {
  test('tell the owner, newest first, in pages', async () => {
    const { id: webhookId } = await registerWebhook(service);
    const insert = async (over: { emailedAt?: Date; error?: string; webhook?: string }) => {
      const id = newId();
      await service.dependencies.db.system.query(
        {
          text: `insert into notifications (workspace_id, id, type, message, webhook_id, emailed_at, email_error, created_at)
                 values ((select id from workspaces where name = 'default'), $1, 'webhook.disabled', 'It was.', $2, $3, $4,
                   '2026-05-01T00:00:00Z')`,
        },
        [id, over.webhook ?? null, over.emailedAt ?? null, over.error ?? null],
      );
      return `ntf_${id}`;
    };
    const sent = await insert({ webhook: uuidOf(webhookId), emailedAt: new Date('2026-05-01T00:00:01.5Z') });
    const failed = await insert({ error: 'connection refused' });
    const first = await list('/notifications?limit=1');
    const record = {
      type: 'webhook.disabled',
      message: 'It was.',
      monitor: null,
      created_at: '2026-05-01T00:00:00.000Z',
    };
    expect(first.data).toEqual([
      { ...record, id: failed, webhook_id: null, email: { sent_at: null, error: 'connection refused' } },
    ]);
    const second = await list(`/notifications?limit=1&cursor=${first.next_cursor}`);
    expect(second).toEqual({
      data: [
        { ...record, id: sent, webhook_id: webhookId, email: { sent_at: '2026-05-01T00:00:01.500Z', error: null } },
      ],
      next_cursor: null,
    });
    expect((await service.call('GET', '/notifications?type=x')).status).toBe(400);
    const { call } = await createOtherWorkspace(service, 'notifications');
    expect((await call('GET', '/notifications')).body.data).toEqual([]);
  });
});
