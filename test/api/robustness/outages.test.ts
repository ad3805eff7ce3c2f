import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { Registry } from 'prom-client';
import { startApi } from '../../../src/api/server.ts';
import { openDatabase } from '../../../src/db/database.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { connectTemporal } from '../../../src/temporal/connection.ts';
import { createCall, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { own: 'counts all rows' });
  await service.call('POST', '/prompts', { body: { name: 'echo', template: 'x', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

/** A loopback port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Another API on the same service, with some dependencies replaced. */
async function withApi(
  parts: Partial<Dependencies>,
  use: (call: ReturnType<typeof createCall>, origin: string) => Promise<void>,
) {
  const api = await startApi({ ...service.dependencies, registry: new Registry(), ...parts }, { eager: false });
  const origin = `http://127.0.0.1:${api.port}`;
  try {
    await use(createCall(origin, service.key), origin);
  } finally {
    await api.close(0);
  }
}

const rows = async (text: string) => (await service.dependencies.db.system.query({ text })).length;

describe('while Temporal cannot be reached', () => {
  const clients: Record<string, () => Promise<Client>> = {
    'its connection was closed': async () => {
      const { connection, client } = await connectTemporal(
        process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
        service.dependencies.settings,
      );
      await connection.close();
      return client;
    },
    'nothing listens where it should be': async () =>
      new Client({ connection: Connection.lazy({ address: `127.0.0.1:${await closedPort()}`, interceptors: [] }) }),
  };

  test.each(Object.keys(clients))('a run is refused and does not happen later: %s', async (why) => {
    const client = await clients[why]?.();
    if (client === undefined) throw new Error(why);
    await withApi({ client }, async (call) => {
      const before = await rows('select from executions');
      const headers = { 'Idempotency-Key': why.replaceAll(' ', '-') };
      const body = { prompt_name: 'echo' };
      const answers = await Promise.all([
        call('POST', '/executions', { body }),
        ...Array.from({ length: 5 }, () => call('POST', '/executions', { body, headers })),
      ]);
      for (const answer of answers) {
        expect([answer.status, answer.body.error.code]).toEqual([500, 'temporarily_unavailable']);
        expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
        expect(answer.body.error.message).not.toMatch(/temporal|grpc|127|workflow/i);
      }
      expect(await rows('select from executions')).toBe(before);
      expect(await rows('select from idempotency_keys')).toBe(0);
      // The same key works as soon as Temporal does.
      expect(await service.call('POST', '/executions', { body, headers })).toMatchObject({
        status: 201,
        body: { status: 'completed' },
      });
      await service.dependencies.db.system.query({ text: 'delete from idempotency_keys' });
    });
  });

  test('the service is reported as not ready, and serves what it can', async () => {
    const client = await clients['nothing listens where it should be']?.();
    if (client === undefined) throw new Error('no client');
    await withApi({ client }, async (call, origin) => {
      const ready = await fetch(`${origin}/readyz`);
      expect(ready.status).toBe(500);
      expect(await ready.json()).toMatchObject({
        status: 'unavailable',
        database: 'ok',
        temporal: 'unreachable',
        error: { code: 'temporarily_unavailable' },
      });
      expect((await call('GET', '/prompts')).status).toBe(200);
      expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    });
  });
});

describe('while the database cannot be reached', () => {
  test('requests are refused, and the service is not ready', async () => {
    const db = await openDatabase(`postgresql://127.0.0.1:${await closedPort()}/none`, { poolSize: 2 });
    try {
      await withApi({ db }, async (call, origin) => {
        const answer = await call('GET', '/prompts');
        expect([answer.status, answer.body.error.code]).toEqual([500, 'temporarily_unavailable']);
        expect(answer.headers.get('Retry-After')).not.toBeNull();
        expect(answer.headers.get('X-Request-Id')).not.toBeNull();
        expect(JSON.stringify(answer.body)).not.toMatch(/ECONNREFUSED|127\.0|postgres|sql/i);
        const ready = await fetch(`${origin}/readyz`);
        expect(ready.status).toBe(500);
        expect(ready.headers.get('Retry-After')).not.toBeNull();
        expect(await ready.json()).toMatchObject({
          database: 'unreachable',
          temporal: 'ok',
          error: { code: 'temporarily_unavailable' },
        });
        expect((await fetch(`${origin}/healthz`)).status).toBe(200);
        expect((await fetch(`${origin}/docs`)).status).toBe(200);
      });
    } finally {
      await db.close();
    }
  });
});
