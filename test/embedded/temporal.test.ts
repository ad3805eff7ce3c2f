import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { type EmbeddedTemporal, startTemporal, type TemporalOptions } from '../../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { SEARCH_ATTRIBUTES } from '../../src/temporal/names.ts';
import { registerSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { waitFor } from '../support/wait-for.ts';
import { envWithoutSetpriv, otherProcess, scratchFolder, untilGone, withTakenPort, writeScript } from './support.ts';

let folder: string;
let remove: () => Promise<void>;
let binary: string;
const running: EmbeddedTemporal[] = [];
beforeAll(async () => {
  ({ folder, remove } = await scratchFolder());
  // In the cache since the set-up of the whole run; the limit is for a run without it.
  binary = await ensureTemporal({ report: () => {} });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});
afterAll(() => remove());

async function start(options: Partial<TemporalOptions> = {}): Promise<EmbeddedTemporal> {
  const server = await startTemporal({ binary, namespace: 'default', log: () => {}, ...options });
  running.push(server);
  return server;
}

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

function namesOfIndexes(dbFile: string): unknown[] {
  const database = new DatabaseSync(dbFile, { readOnly: true, timeout: 5_000 });
  try {
    const select = `select name from sqlite_master where tbl_name = 'executions_visibility' and type = 'index' and sql is not null`;
    return database
      .prepare(select)
      .all()
      .map(({ name }) => name);
  } finally {
    database.close();
  }
}

const startInAnotherProcess = async (dbFile: string, env: NodeJS.ProcessEnv) => {
  const options = JSON.stringify({ binary, dbFile, namespace: 'default' });
  const code = `const s = await startTemporal({ ...${options}, log() {} }); tell(s.pid);`;
  const { told, kill9 } = await otherProcess({ startTemporal: 'temporal/temporal.ts' }, code, env);
  return { pid: Number(told), kill9 };
};

describe('startTemporal', () => {
  test('keeps workflows and port when the server is killed and started again', async () => {
    const dbFile = path.join(folder, 'killed', 'temporal.db');
    const first = await start({ dbFile });
    await withClient(first.address, (client) =>
      client.workflow.start('anything', { taskQueue: 'nobody', workflowId: 'kept' }),
    );
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toMatchObject({ signal: 'SIGKILL' });

    const second = await start({ dbFile });
    expect(second.address).toBe(first.address);
    await withClient(second.address, async (client) => {
      expect((await client.workflow.getHandle('kept').describe()).status.name).toBe('RUNNING');
    });
    await second.stop();
  });

  test('has none of our search attributes until a worker registers them, even on an old file', async () => {
    const dbFile = path.join(folder, 'attributes', 'temporal.db');
    await (await start({ dbFile })).stop();
    const server = await start({ dbFile });
    await withClient(server.address, async (client) => {
      // As an API and a worker do that start together.
      await Promise.all([registerSearchAttributes(client), registerSearchAttributes(client)]);
      // They are known immediately, which Temporal does not promise.
      const typedSearchAttributes = Object.values(SEARCH_ATTRIBUTES).map((key) => ({ key, value: 'x' }));
      await client.workflow.start('anything', { taskQueue: 'nobody', workflowId: 'described', typedSearchAttributes });
      expect(await registerSearchAttributes(client)).toEqual([]);
    });
    await server.stop();
  });

  test('finds executions by columns whose index it dropped, and keeps the other indexes', async () => {
    const dbFile = path.join(folder, 'indexes', 'temporal.db');
    const log: string[] = [];
    for (const workflowId of ['first', 'second']) {
      const server = await start({ dbFile, log: (line) => log.push(line) });
      const indexes = namesOfIndexes(dbFile);
      expect(indexes).toHaveLength(15);
      const ofAttributes = Object.keys(SEARCH_ATTRIBUTES).map((_, index) => `by_keyword_0${index + 1}`);
      expect(ofAttributes).toContain('by_keyword_06');
      const kept = ['default_idx', 'by_workflow_id', 'by_status', ...ofAttributes];
      expect(indexes).toEqual(expect.arrayContaining(kept));
      await withClient(server.address, async (client) => {
        await client.workflow.start('anything', { taskQueue: 'nobody', workflowId });
        for (const query of [
          `WorkflowId = '${workflowId}'`,
          `WorkflowId = '${workflowId}' and ExecutionTime < '2100-01-01T00:00:00Z'`,
        ])
          await waitFor(query, async () => (await client.workflow.count(query)).count === 1);
      });
      await server.stop();
    }
    expect(log.join()).not.toContain('spare indexes');
  });

  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux('ends with its parent, even a killed one', async () => {
    const other = await startInAnotherProcess(path.join(folder, 'parent.db'), process.env);
    await other.kill9();
    await untilGone(other.pid);
  });

  test('takes over from a server that outlived its killed parent', async () => {
    const bin = path.join(folder, 'bin');
    await mkdir(bin);
    const env = await envWithoutSetpriv(bin);
    // Its log is no longer read, so a server that logs at that moment ends unexpectedly: try another.
    for (let left = 3; ; left -= 1) {
      const dbFile = path.join(folder, `orphan-${left}.db`);
      const other = await startInAnotherProcess(dbFile, env);
      await other.kill9();
      const log: string[] = [];
      await start({ dbFile, log: (line) => log.push(line) });
      await untilGone(other.pid);
      if (left > 1 && !log.join().includes(`(pid ${other.pid})`)) continue;
      expect(log.join()).toContain(`(pid ${other.pid})`);
      return;
    }
  });

  test('uses another port and says so when the preferred one is taken', async () => {
    await withTakenPort(async (port) => {
      const log: string[] = [];
      const server = await start({ port, log: (line) => log.push(line) });
      expect(server.address).not.toBe(`127.0.0.1:${port}`);
      expect(log.join()).toContain(`port ${port} is taken`);
      expect(server.uiUrl).toBeUndefined();
    });
  });

  test('names the setting when the port of the UI is taken', async () => {
    await withTakenPort(async (uiPort) => {
      await expect(start({ uiPort })).rejects.toMatchObject({
        code: 'port_taken',
        message: expect.stringContaining('TEMPORAL_UI_PORT'),
      });
    });
  });

  test('shows what the program said if it does not start', async () => {
    const broken = path.join(folder, 'broken');
    await writeScript(broken, ['echo "unable to open the moon" >&2', 'exit 3']);
    await expect(start({ binary: broken })).rejects.toMatchObject({
      code: 'temporal_failed',
      message: expect.stringContaining('unable to open the moon'),
    });
    await expect(start({ binary: path.join(folder, 'nowhere') })).rejects.toMatchObject({ code: 'temporal_failed' });
  });
});
