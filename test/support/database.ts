import { randomUUID } from 'node:crypto';
import process from 'node:process';
import pg from 'pg';

/** A migrated database, created by the global set-up. */
export const TEMPLATE_DATABASE = 'pms_template';

function serverUrl(database: string): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (url === undefined) throw new Error('The global set-up did not run.');
  return `${url}${database}`;
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client(serverUrl('postgres'));
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A fresh, migrated database; dropped by `drop`. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Logging every page of the template, the default, takes five times as long here.
  await administer(`create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`);
  return { url: serverUrl(name), drop: () => administer(`drop database ${name} with (force)`) };
}
