import type { AddressInfo } from 'node:net';
import process from 'node:process';
import Koa from 'koa';
import pg from 'pg';
import { z } from 'zod';

/** The statement with its values as JSON, and the database. */
const [statementJson = '', databaseUrl = ''] = process.argv.slice(2);
const statement = z
  .object({ name: z.string(), text: z.string(), values: z.array(z.string()) })
  .parse(JSON.parse(statementJson));

const pool = new pg.Pool({
  connectionString: databaseUrl,
  max: 20,
  keepAlive: true,
  connectionTimeoutMillis: 5_000,
});
pool.on('error', () => {});

const app = new Koa();
app.use(async (ctx) => {
  const { rows } = await pool.query(statement);
  ctx.body = rows[0];
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});
