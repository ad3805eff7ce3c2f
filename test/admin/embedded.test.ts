import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { migrate } from '../../src/db/migrate.ts';
import { startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { runAdmin } from './run.ts';

test('finds the PostgreSQL of npm start, and reports if none runs', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-admin-'));
  const settings = { DATA_DIR: folder };
  const nothing = {
    code: 1,
    stdout: '',
    stderr: `error: No service runs with DATA_DIR ${folder}: start one with npm start, or set DATABASE_URL to its database.\n`,
  };
  try {
    expect(await runAdmin(['workspace', 'list'], settings)).toEqual(nothing);
    const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), log: () => {} });
    try {
      await migrate(postgres.url('pms'));
      const made = await runAdmin(['workspace', 'create', 'acme', '--owner', 'ada@example.com', '--json'], settings);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(made.stdout)).toMatchObject({ name: 'acme' });
      const reconciled = await runAdmin(['reconcile'], settings);
      expect(reconciled).toMatchObject({ code: 0, stderr: '' });
      expect(reconciled.stdout).toContain('0 executions, ');
      const copy = path.join(folder, 'copy');
      const backedUp = await runAdmin(['backup', copy, '--json'], settings);
      expect(backedUp).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(backedUp.stdout)).toMatchObject({ folder: copy, live: true });
      expect(await runAdmin(['backup', copy], settings)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is not empty'),
      });
      expect(await runAdmin(['backup', `${copy}2`], { DATABASE_URL: postgres.url('pms') })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('with its own tools'),
      });
    } finally {
      await postgres.stop();
    }
    expect(await runAdmin(['workspace', 'list'], settings)).toEqual(nothing);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
