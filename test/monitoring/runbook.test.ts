import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../support/database.ts';
import { readProjectFile } from '../support/monitoring-files.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const statements = [...readProjectFile('docs/runbook.md').matchAll(/^psql "\$DATABASE_URL" -c "(.*)"$/gm)].map(
  ([, statement = '']) => statement,
);

test('the runbook has statements', () => {
  expect(statements.length).toBeGreaterThan(12);
});

test.each(statements)('the database takes: %s', async (statement) => {
  await expect(client.query(statement)).resolves.toBeDefined();
});
