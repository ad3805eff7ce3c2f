// npm run check:upgrade [-- --from REF]
// Starts the last release (the last tag v*, or REF) as two API and two worker processes with a real PostgreSQL and Temporal, and work of
// all kinds in progress. Migrates the database with this checkout while the release runs, then replaces its processes one by one with
// this checkout's, back with the release's, and forward again, all under load. At the end it accounts for every call to the model's
// stand-in, every delivery and every row, and replays the histories of all workflows with the code of both. Fails if anything was lost,
// failed or happened twice, if a caller got a 5xx, or if a process did not stop properly.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { startPostgres } from '../src/embedded/postgres/postgres.ts';
import { startTemporal } from '../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../src/embedded/temporal/temporal-binary.ts';
import { historyToJson } from '../test/support/histories.ts';
import { freePorts, killOrphans, startProcess } from '../test/support/processes.ts';
import { startProvider } from '../test/support/processes-service.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { until } from '../test/support/wait-for.ts';
import { Balancer } from './upgrade/balancer.ts';
import { Ledger, type Line } from './upgrade/ledger.ts';
import { Processes } from './upgrade/processes.ts';
import { releaseTree } from './upgrade/release-tree.ts';
import { Work } from './upgrade/work.ts';

const NEW = fileURLToPath(new URL('..', import.meta.url));
const APIS = 2;
const WORKERS = 2;
const KEY = 'pms_upgrade-0123456789abcdef';
const END_WITHIN_MS = 8 * 60_000;
/** Maximum for short workflows, of which there are many. */
const HISTORIES_OF_A_TYPE = 200;

const { values: options } = parseArgs({ options: { from: { type: 'string' } } });
const begun = performance.now();
const say = (text: string) => console.log(`${((performance.now() - begun) / 1000).toFixed(0).padStart(4)} s  ${text}`);

const old = await releaseTree(options.from);
const folder = mkdtempSync(path.join(tmpdir(), 'pms-upgrade-'));
const stops: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true }), killOrphans];
const violations: string[] = [];

/** Runs a program of a version to its end. @throws Error with its output */
async function runScript(tree: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, output } = await startProcess([process.execPath, ...args], { cwd: tree, env }).ended;
  if (code !== 0) throw new Error(`${args.join(' ')} in ${tree} ended with ${code}: ${output.slice(-2000)}`);
  return output;
}

/** Saves histories, mostly of workflows with many steps, and looks for tasks that failed because the code took another path. */
async function saveHistories(address: string): Promise<{ total: number; saved: number; folder: string }> {
  const connection = await Connection.connect({ address });
  stops.push(() => connection.close());
  const client = new Client({ connection });
  const target = path.join(folder, 'histories');
  mkdirSync(target);
  const saved: Record<string, number> = {};
  let total = 0;
  for await (const { workflowId, runId, type } of client.workflow.list()) {
    total += 1;
    if (type.startsWith('temporal-')) continue;
    saved[type] = (saved[type] ?? 0) + 1;
    if (saved[type] > HISTORIES_OF_A_TYPE) continue;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { workflowTaskFailedEventAttributes: failed } of history.events ?? [])
      if (failed?.failure?.message && /nondetermin|TMPRL1100/i.test(failed.failure.message))
        violations.push(`${workflowId}: ${failed.failure.message}`);
    writeFileSync(path.join(target, `${type}-${saved[type]}.json`), historyToJson(history));
  }
  const count = Object.values(saved).reduce((sum, of) => sum + Math.min(of, HISTORIES_OF_A_TYPE), 0);
  return { total, saved: count, folder: target };
}

function print(lines: Line[]): void {
  const head = ['', 'count', 'lost', 'failed', 'doubled', 'note'];
  const rows = lines.map(({ what, count, lost, failed, doubled, note }) => [what, count, lost, failed, doubled, note]);
  for (const cells of [head, head.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
}

try {
  say(`from ${old.name} to this checkout`);
  const binary = await ensureTemporal({ report: say });
  const [postgres, temporal, model, failing, good] = await Promise.all([
    startPostgres({ dataDir: path.join(folder, 'postgres'), log: () => {} }),
    startTemporal({
      binary,
      dbFile: path.join(folder, 'temporal', 'temporal.db'),
      namespace: 'default',
      log: () => {},
    }),
    startProvider('openai', ['--latency', '400']),
    // Two attempts at each delivery fail, so it waits for retries while processes are replaced.
    startReceiver(
      ({ headers }, response) => void response.writeHead(Number(headers['x-delivery-attempt']) > 2 ? 200 : 503).end(),
    ),
    startReceiver(),
  ]);
  stops.push(
    () => failing.close(),
    () => good.close(),
    () => postgres.stop(),
    () => temporal.stop(),
  );
  const databaseUrl = postgres.url('pms');
  await runScript(old.folder, ['src/db/migrate.ts'], { DATABASE_URL: databaseUrl });

  const ports = await freePorts(APIS);
  const processes = new Processes({
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BOOTSTRAP_API_KEY: KEY,
    METRICS_PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    OPENAI_API_KEY: 'x',
    OPENAI_BASE_URL: model.baseUrl,
    WEBHOOK_ALLOW_PRIVATE: 'loopback',
    WEBHOOK_RETRY_WAITS: '10s,30s,1m',
    WORKSPACE_CONCURRENCY: '15',
  });
  for (let worker = 0; worker < WORKERS; worker += 1) await processes.start('worker', old.folder);
  for (const port of ports) await processes.start('api', old.folder, { PORT: String(port) });
  say(`${APIS} API and ${WORKERS} worker processes of ${old.name} run`);

  const balancer = new Balancer(ports, KEY);
  const work = new Work(balancer, model);
  const database = new pg.Client(databaseUrl);
  await database.connect();
  stops.push(() => database.end());
  const ledger = new Ledger(database, model, work);
  await fetch(new URL('/__batches', model.baseUrl), { method: 'POST', body: JSON.stringify({ completeMs: 45_000 }) });
  await work.seed({ failing: failing.url, good: good.url });
  const endLoad = work.load();

  const roll = async (name: string, tree: string, beforehand?: () => Promise<void>) => {
    await work.wave(name);
    await beforehand?.();
    const inFlight = await ledger.unfinished();
    say(
      `${name}: in flight: ${Object.entries(inFlight)
        .map(([table, count]) => `${count} ${table.replace('_', ' ')}`)
        .join(', ')}`,
    );
    for (const { kind, replace } of processes.all) {
      await replace(tree);
      say(`${name}: a process (${kind}) was replaced`);
    }
    await work.behave();
    await delay(5_000);
    await work.approve();
  };
  await roll('forward', NEW, async () => {
    const applied = await runScript(NEW, ['src/db/migrate.ts'], { DATABASE_URL: databaseUrl });
    say(`migrated, while ${old.name} runs: ${applied.trim()}`);
    await delay(10_000);
  });
  await roll('back', old.folder);
  await roll('forward-again', NEW);

  await endLoad();
  say('waiting for everything to end');
  const { schedule } = work;
  await balancer.call('POST', `/schedules/${schedule}/pause`, { body: {} });
  await until(
    'the end of everything',
    async () => {
      const left = await ledger.unfinished();
      if (Object.keys(left).length > 0) throw new Error(`unfinished: ${JSON.stringify(left)}`);
      return true;
    },
    END_WITHIN_MS,
  ).catch((error: unknown) => void violations.push(String(error)));

  const lines = await ledger.lines({ failing, good });
  print(lines);
  for (const { what, lost, failed, doubled } of lines)
    if (lost + failed + doubled > 0) violations.push(`${what}: lost ${lost}, failed ${failed}, doubled ${doubled}`);
  const { requests, byStatus, refused, streamsContinued, faults } = balancer.seen;
  say(
    `${requests} requests, by status ${JSON.stringify(byStatus)}; ${refused} were refused by a process that restarted, and taken by the other one; ` +
      `${streamsContinued} times a stream was read on in another process; ${faults.length} faults`,
  );
  violations.push(...faults, ...work.surprises);

  const histories = await saveHistories(temporal.address);
  // Uses a script of this checkout, because the release may not have it.
  for (const [name, tree] of [
    ['this checkout', NEW],
    [old.name, old.folder],
  ] as const) {
    const output = await runScript(NEW, ['scripts/replay-histories.ts', histories.folder, tree]);
    const failures = output.split('\n').filter((line) => line.startsWith('{'));
    say(
      `${histories.saved} histories of ${histories.total} replayed with the workflows of ${name}: ${failures.length} failed`,
    );
    violations.push(...failures);
  }
  await processes.stop();
  violations.push(...processes.troubles);
} catch (error) {
  violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  for (const stop of stops.toReversed()) await stop();
}
if (violations.length > 0) {
  console.log(`\n${violations.length} violations:`);
  for (const violation of violations.slice(0, 60)) console.log(`- ${violation}`);
}
say(violations.length > 0 ? 'the upgrade is not safe' : 'nothing was lost, failed or done twice');
process.exit(violations.length > 0 ? 1 : 0);
