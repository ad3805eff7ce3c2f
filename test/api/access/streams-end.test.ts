import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { type RunningApi, startApi } from '../../../src/api/server.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { openListener } from '../../../src/db/listener.ts';
import {
  createApiKey,
  generateApiKey,
  revokeApiKey,
  SCOPES,
  type Scope,
} from '../../../src/services/access/api-keys.ts';
import { deleteWorkspace } from '../../../src/services/workspaces/delete-workspace.ts';
import { type EventReader, readEvents } from '../../support/event-stream.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';

let service: TestService;
/** Simulates another process that gets no notifications. */
let deaf: { origin: string; api: RunningApi; close(): Promise<void> };
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  const { log, ...rest } = service.dependencies;
  const db = await openDatabase(service.databaseUrl, { poolSize: 5 });
  const listener = openListener(service.databaseUrl, log);
  await listener.close();
  const api = await startApi({ ...rest, log, db, listener, registry: new Registry() }, { eager: false });
  deaf = {
    origin: `http://127.0.0.1:${api.port}`,
    api,
    async close() {
      await api.close(0);
      await db.close();
    },
  };
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'It.', model: 'sandbox/echo' } });
});
const open: EventReader[] = [];
afterEach(() => {
  for (const reader of open.splice(0)) reader.close();
});
afterAll(async () => {
  await deaf?.close();
  await service?.stop();
});

/** Streams of runs without a worker, which would never end. Each kind, in each process. */
async function openStreams(key: string, { headers = {}, call = service.call } = {}): Promise<EventReader[]> {
  const body = { prompt_name: 'say' };
  const execution = await call('POST', '/executions', { body, headers: { Prefer: 'respond-async' } });
  const evaluation = await call('POST', '/evaluations', { body: { ...body, examples: [{ variables: {} }] } });
  const readers = await Promise.all(
    [service.origin, deaf.origin].flatMap((origin) => [
      readEvents({ origin, key }, `/executions/${execution.body.id}/stream`, { headers }),
      readEvents({ origin, key }, `/evaluations/${evaluation.body.id}/stream`, { headers }),
      readEvents({ origin, key }, '/changes', { headers }),
      ...('Cookie' in headers ? [] : [readEvents({ origin, key }, '/executions', { method: 'POST', body })]),
    ]),
  );
  open.push(...readers);
  for (const { status } of readers) expect([200, 201]).toContain(status);
  return readers;
}

async function expectEnd(readers: readonly EventReader[]): Promise<void> {
  // The streams must not look complete.
  expect(new Set(await Promise.all(readers.map(({ ended }) => ended)))).toEqual(new Set(['cut']));
}

async function expectToGoOn(readers: readonly EventReader[]): Promise<void> {
  const [first] = await Promise.race([
    Promise.all(readers.map(({ ended }) => ended)),
    new Promise<['open']>((resolve) => setTimeout(() => resolve(['open']), 5_000)),
  ]);
  expect(first).toBe('open');
}

const keyWith = (...scopes: Scope[]) => createKey(service, ...scopes);

async function openMetric(): Promise<number | undefined> {
  const metric = await service.dependencies.registry.getSingleMetric('pms_streams_open')?.get();
  return metric?.values[0]?.value;
}

test('streams end with their key, in all processes, and others continue', async () => {
  const { id, key } = await keyWith('read', 'execute');
  const others = await openStreams((await keyWith('read', 'execute')).key);
  const readers = await openStreams(key);
  await service.call('DELETE', `/api-keys/${id}`);
  await expectEnd(readers);
  await expectToGoOn(others);
});

test('streams end with a key that the operator revokes, and with one that expires', async () => {
  const own = service.dependencies.db.workspace(service.workspaceId);
  const expiring = generateApiKey();
  const revoked = generateApiKey();
  const add = (key: string, expiresAt: Date | null) =>
    own.transaction((query) => createApiKey(query, key, { name: 'k', scopes: [...SCOPES], expiresAt }));
  await add(expiring, new Date(Date.now() + 10_000));
  const { id } = await add(revoked, null);
  const readers = [...(await openStreams(expiring)), ...(await openStreams(revoked))];
  await revokeApiKey(own, id);
  await expectEnd(readers);
});

test('streams end with their session, and with the key of their session', async () => {
  const { id, key } = await keyWith('read', 'execute');
  const signIn = async () => {
    const answer = await service.call('POST', '/session', { key: null, body: { key } });
    return { Cookie: (answer.headers.get('Set-Cookie') ?? '').split(';', 1).join(''), Authorization: '' };
  };
  const [first, second] = [await signIn(), await signIn()];
  const [mine, others] = [await openStreams(key, { headers: first }), await openStreams(key, { headers: second })];
  const own = { Cookie: first.Cookie, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' };
  expect((await service.call('DELETE', '/session', { key: null, headers: own })).status).toBe(200);
  await expectEnd(mine);
  await expectToGoOn(others);
  await service.call('DELETE', `/api-keys/${id}`);
  await expectEnd(others);
});

test('streams end with their workspace, and release what they held', async () => {
  const { key, call } = await createOtherWorkspace(service, 'leaving');
  await call('POST', '/prompts', { body: { name: 'say', template: 'It.', model: 'sandbox/echo' } });
  const readers = await openStreams(key, { call });
  await deleteWorkspace(service.dependencies.db.system, 'leaving');
  await expectEnd(readers);
  await until('the end of all streams', async () => (await openMetric()) === 0);
});
