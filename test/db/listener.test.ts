import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { openListener } from '../../src/db/listener.ts';
import { createTestDatabase } from '../support/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

test('closing a listener while it connects ends it', async () => {
  const listener = openListener(database.url, pino({ level: 'silent' }));
  await listener.close();
  expect(listener.connected()).toBe(false);
}, 60_000);
