import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { DatabaseUnavailableError } from '../../src/db/errors.ts';
import { openListener } from '../../src/db/listener.ts';
import { createTestDatabase } from '../support/database.ts';
import { proxyTo, type TcpProxy } from '../support/proxy.ts';
import { until } from '../support/wait-for.ts';

const silent = pino({ level: 'silent' });
const ONE = { text: 'select 1 as one' };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let proxy: TcpProxy;
let url: string;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ proxy, url } = await proxyTo(database.url));
  db = await openDatabase(url, { poolSize: 2, statementTimeoutMs: 500 });
});
afterAll(async () => {
  proxy.cut();
  await db.close();
  await proxy.close();
  await database.drop();
});

test('statements on dead but open connections fail, and the next ones have new connections', async () => {
  const { query, transaction } = db.system;
  await Promise.all([query(ONE), query(ONE)]);
  proxy.strand();
  const outcomes = await Promise.allSettled([query(ONE), transaction((inner) => inner(ONE))]);
  expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: expect.any(DatabaseUnavailableError) })));
  expect(await query(ONE)).toEqual([{ one: 1 }]);
  expect(await transaction((inner) => inner(ONE))).toEqual([{ one: 1 }]);
});

test('a transaction without a time limit is waited for', async () => {
  const sleep = { text: 'select pg_sleep(7)' };
  await db.system.transaction((query) => query(sleep), { statementTimeoutMs: 0 });
});

test('a listener with a dead but open connection listens again', async () => {
  const listener = openListener(url, silent);
  await until('the listener is there', async () => listener.connected());
  let heard = 0;
  listener.on('event_written', () => {
    heard += 1;
  });
  proxy.strand();
  await until('a notification arrives', async () => {
    await db.system.query({ text: `select pg_notify('event_written', '')` }).catch(() => {});
    return heard > 0;
  });
  await listener.close();
});
