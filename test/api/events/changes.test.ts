import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type EventReader, readEvents } from '../../support/event-stream.ts';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ QUOTA_STREAMS: '3' });
});
afterAll(() => service?.stop());

const open: EventReader[] = [];
async function watch(key = service.key): Promise<EventReader> {
  const reader = await readEvents({ origin: service.origin, key }, '/changes');
  open.push(reader);
  return reader;
}
const lastOf = ({ events }: EventReader): string[] => events.at(-1)?.data.resources;
const openCount = async () =>
  (await service.dependencies.registry.getSingleMetric('pms_streams_open')?.get())?.values[0]?.value;
afterEach(async () => {
  for (const reader of open.splice(0)) reader.close();
  await until('the end of all streams', async () => (await openCount()) === 0);
});

/** A change that only the audit log reports. */
async function makeQueue(call: Call, name: string): Promise<void> {
  await call('PUT', `/score-definitions/${name}`, { body: { data_type: 'boolean' } });
  const { status } = await call('PUT', `/queues/${name}`, { body: { score_names: [name] } });
  expect(status).toBe(200);
}

const parseNotification = ({ events }: EventReader) =>
  new Set(events.flatMap(({ data }) => data.resources as string[]));

test('a stream begins empty, then names changes by people and ended work', async () => {
  const reader = await watch();
  await reader.has('changes');
  expect(reader.status).toBe(200);
  expect(reader.headers.get('content-type')).toContain('text/event-stream');
  expect(reader.events).toEqual([{ id: '', event: 'changes', data: { type: 'changes', resources: [] } }]);

  await service.call('POST', '/prompts', { body: { name: 'say', template: 'It.', model: 'sandbox/echo' } });
  await until('the prompt', async () => parseNotification(reader).has('prompt'));
  const { status } = await service.call('POST', '/executions', { body: { prompt_name: 'say' } });
  expect(status).toBe(201);
  await until('the execution', async () => parseNotification(reader).has('execution'));
  await service.call('PUT', '/prompts/say/labels/production', { body: { version: 1 } });
  await makeQueue(service.call, 'look');
  await until('the queue', async () => parseNotification(reader).has('queue'));
  expect(parseNotification(reader)).toEqual(new Set(['prompt', 'execution', 'score_definition', 'queue']));
});

test('a later reader hears only of what follows, and other workspaces hear nothing', async () => {
  const first = await watch();
  await first.has('changes');
  await makeQueue(service.call, 'earlier');
  await until('the queue', async () => parseNotification(first).has('queue'));
  // A change is notified twice: once something else is notified, it is over.
  await service.call('POST', '/executions', { body: { prompt_name: 'say' } });
  await until('the execution', async () => parseNotification(first).has('execution'));
  await until('the last of it', async () => !lastOf(first).includes('score_definition'));

  const other = await createOtherWorkspace(service, 'elsewhere');
  const second = await watch();
  const stranger = await watch(other.key);
  await Promise.all([second.has('changes'), stranger.has('changes')]);
  await service.call('POST', '/prompts', { body: { name: 'later', template: 'It.', model: 'sandbox/echo' } });
  await until(
    'the prompt',
    async () => parseNotification(first).has('prompt') && parseNotification(second).has('prompt'),
  );
  expect(parseNotification(second)).toEqual(new Set(['prompt']));
  await makeQueue(other.call, 'theirs');
  await until('the queue', async () => parseNotification(stranger).has('queue'));
  expect(parseNotification(stranger)).toEqual(new Set(['score_definition', 'queue']));
});

test('streams per workspace are limited, and a key needs scope "read"', async () => {
  await Promise.all([watch(), watch(), watch()]);
  expect((await watch()).status).toBe(429);
  const { key } = await createKey(service, 'execute');
  expect((await watch(key)).status).toBe(401);
});
