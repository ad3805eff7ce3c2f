import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type EmbeddedPostgres, type PostgresOptions, startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { envWithoutSetpriv, isAlive, otherProcess, scratchFolder, untilGone, withTakenPort } from './support.ts';

let folder: string;
let remove: () => Promise<void>;
const running: EmbeddedPostgres[] = [];
beforeAll(async () => {
  ({ folder, remove } = await scratchFolder());
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});
afterAll(() => remove());

async function start(dataDir: string, options: Partial<PostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startPostgres({ dataDir, log: () => {}, ...options });
  running.push(server);
  return server;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

const NEW_ROW = 'create table kept as select 42 as n';

const startInAnotherProcess = async (dataDir: string, env: NodeJS.ProcessEnv) => {
  const code = `const s = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, log() {} });
    tell({ pid: s.pid, url: s.url('postgres') });`;
  const { told, kill9 } = await otherProcess({ startPostgres: 'postgres/postgres.ts' }, code, env);
  const { pid, url } = told as { pid: number; url: string };
  return { pid, url, kill9 };
};

describe('startPostgres', () => {
  test('keeps data and port when the server is killed and started again', async () => {
    const dataDir = path.join(folder, 'killed');
    const first = await start(dataDir);
    await query(first.url('postgres'), NEW_ROW);
    expect(first.running()).toBe(true);
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(first.running()).toBe(false);

    const second = await start(dataDir);
    expect(second.port).toBe(first.port);
    expect(await query(second.url('postgres'), 'select n from kept')).toEqual([42]);
    expect(await query(second.url('postgres'), 'show fsync')).toEqual(['on']);
  });

  test('asks for the password', async () => {
    const server = await start(path.join(folder, 'killed'));
    const url = new URL(server.url('postgres'));
    expect(url.password).not.toBe('');
    url.password = 'wrong';
    await expect(query(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux('ends with its parent, even a killed one', async () => {
    const dataDir = path.join(folder, 'parent');
    const other = await startInAnotherProcess(dataDir, process.env);
    await query(other.url, NEW_ROW);
    await other.kill9();
    await untilGone(other.pid);
    const server = await start(dataDir);
    expect(await query(server.url('postgres'), 'select n from kept')).toEqual([42]);
  });

  test('takes over from a server that outlived its killed parent', async () => {
    const dataDir = path.join(folder, 'orphan');
    const bin = path.join(folder, 'bin');
    await mkdir(bin);
    const other = await startInAnotherProcess(dataDir, await envWithoutSetpriv(bin));
    await query(other.url, NEW_ROW);
    await other.kill9();
    expect(isAlive(other.pid)).toBe(true);
    const log: string[] = [];
    const server = await start(dataDir, { log: (line) => log.push(line) });
    expect(log.join()).toContain(`(pid ${other.pid})`);
    await untilGone(other.pid);
    expect(await query(server.url('postgres'), 'select n from kept')).toEqual([42]);
  });

  test('ignores a pid file that names some other process', async () => {
    const dataDir = path.join(folder, 'killed');
    await writeFile(
      path.join(dataDir, 'postmaster.pid'),
      `${process.pid}\n${dataDir}\n1\n5432\n\n127.0.0.1\n0 0\nready\n`,
    );
    const server = await start(dataDir);
    expect(await query(server.url('postgres'), 'select n from kept')).toEqual([42]);
  });

  test('uses another port and says so when the preferred one is taken', async () => {
    await withTakenPort(async (port) => {
      const log: string[] = [];
      const server = await start(path.join(folder, 'port'), { port, ephemeral: true, log: (line) => log.push(line) });
      expect(server.port).not.toBe(port);
      expect(log.join()).toContain(`port ${port} is taken`);
      expect(await query(server.url('postgres'), 'select 1')).toEqual([1]);
    });
  });

  test('removes a temporary cluster when it stops, and takes settings', async () => {
    const parent = path.join(folder, 'ephemeral');
    const server = await start(path.join(parent, 'data'), { ephemeral: true, settings: { max_connections: '7' } });
    expect(await query(server.url('postgres'), 'show max_connections')).toEqual(['7']);
    await server.stop();
    expect(await readdir(parent)).toEqual([]);
  });

  test('leaves folders with other content alone', async () => {
    const dataDir = path.join(folder, 'other');
    await mkdir(dataDir);
    await writeFile(path.join(dataDir, 'letter.txt'), 'Dear all');
    await expect(start(dataDir)).rejects.toMatchObject({
      code: 'postgres_failed',
      message: expect.stringContaining('is not empty and holds no PostgreSQL cluster'),
    });
    expect(await readFile(path.join(dataDir, 'letter.txt'), 'utf8')).toBe('Dear all');
  });

  test('shows what PostgreSQL said if it does not start, and leaves nothing half made', async () => {
    const parent = path.join(folder, 'broken');
    const wrong = start(path.join(parent, 'data'), { ephemeral: true, settings: { shared_buffers: 'much' } });
    await expect(wrong).rejects.toMatchObject({
      code: 'postgres_failed',
      message: expect.stringContaining('invalid value for parameter "shared_buffers"'),
    });
    await expect(start(path.join(folder, 'other', 'letter.txt', 'below'))).rejects.toMatchObject({
      code: 'postgres_failed',
    });
  });
});
