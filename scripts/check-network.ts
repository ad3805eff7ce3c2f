// Injects faults between each pair of processes while work is in progress, and prints which guarantees held:
// npm run check:network [-- --link TEXT] [--fault TEXT] [--json FILE] [--again]
// The check starts its own PostgreSQL and Temporal servers; Temporal uses its own PostgreSQL, as in production. Go (1.25 or newer) builds
// Toxiproxy and Temporal's server the first time. A full run takes about 50 minutes; results are also saved in
// .cache/network-matrix.json. `--again` reads them from there and repeats the cases that failed: recovery takes longer on a busy machine.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startTemporalServer } from '../bench/temporal-server.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgres } from '../src/embedded/postgres/postgres.ts';
import { type CellOutcome, type Fault, faultsOf, runCell } from '../test/support/network-cell.ts';
import { type Before, LINKS, type NetworkStage, startNetworkStage } from '../test/support/network-stage.ts';
import { killOrphans, PROJECT } from '../test/support/processes.ts';
import { startProxy, type TcpProxy } from '../test/support/proxy.ts';
import { startToxiproxy, type Toxic, type ToxicProxy } from '../test/support/toxiproxy.ts';

const { values: only } = parseArgs({
  options: {
    link: { type: 'string' },
    fault: { type: 'string' },
    json: { type: 'string' },
    again: { type: 'boolean' },
  },
});
const JSON_FILE = only.json ?? path.join(PROJECT, '.cache', 'network-matrix.json');
const report = (line: string) => console.error(line);
const MODEL_MS = 300;
const FAULT_MS = 6_000;
const HALF_OPEN_MS = 12_000;

const both = (type: Toxic['type'], attributes: Record<string, number>): Toxic[] =>
  (['upstream', 'downstream'] as const).map((stream) => ({ type, stream, attributes }));
const down = (type: Toxic['type'], attributes: Record<string, number>): Toxic[] => [
  { type, stream: 'downstream', attributes },
];

/** By name: toxics, or a disabled proxy. */
const FAULTS: Record<string, { toxics: Toxic[] | 'disabled' | 'blink'; ms: number }> = {
  'latency 250 ± 200 ms': { toxics: down('latency', { latency: 250, jitter: 200 }), ms: FAULT_MS },
  resets: { toxics: down('reset_peer', { timeout: 300 }), ms: FAULT_MS },
  'half-open, requests lost': {
    toxics: [{ type: 'timeout', stream: 'upstream', attributes: { timeout: 0 } }],
    ms: HALF_OPEN_MS,
  },
  'half-open, answers lost': { toxics: down('timeout', { timeout: 0 }), ms: HALF_OPEN_MS },
  'nothing arrives for 12 s, then all of it': { toxics: both('latency', { latency: 60_000 }), ms: HALF_OPEN_MS },
  'slow close 3 s': { toxics: both('slow_close', { delay: 3_000 }), ms: FAULT_MS },
  'bandwidth 32 kB/s': { toxics: both('bandwidth', { rate: 32 }), ms: FAULT_MS },
  'slices of 64 bytes': { toxics: both('slicer', { average_size: 64, size_variation: 32, delay: 200 }), ms: FAULT_MS },
  'closed after 20 kB': { toxics: down('limit_data', { bytes: 20_000 }), ms: FAULT_MS },
  refused: { toxics: 'disabled', ms: FAULT_MS },
  'all connections dropped once': { toxics: 'blink', ms: 200 },
};

/** A machine in between forgets open connections, while new ones work. Toxiproxy has nothing like it. */
const STRANDED = 'open connections forgotten';
/** Statements have 30 s plus 5; Temporal's SDK pings every 30 s and waits 15 s. */
const STRANDED_RECOVERY_MS = 60_000;
const STRANDED_AFTER_MS = 75_000;
/** A call that waits on such a connection takes the maximum time of a call. */
const MODEL_TIMEOUT_MS = 20_000;
/** For this project's clients: longer than the service lets them wait. */
const CALLER_RECOVERY_MS = 100_000;

const TEMPORAL_DATABASE = 'Temporal – its PostgreSQL';

interface Cell {
  link: string;
  fault: string;
  outcome: CellOutcome;
  wrong: string[];
}

const earlierCells = async (): Promise<Cell[]> => JSON.parse(await readFile(JSON_FILE, 'utf8'));

async function startPlainProxy(_name: string, target: string): Promise<TcpProxy> {
  const { hostname: host, port } = new URL(`tcp://${target}`);
  return startProxy({ host, port: Number(port) });
}

async function main(): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-network-'));
  const stops: (() => Promise<unknown>)[] = [];
  const earlier = only.again === true ? await earlierCells() : [];
  const rows = earlier.filter(({ wrong }) => wrong.length === 0);
  try {
    const toxiproxy = await startToxiproxy(report);
    stops.push(() => killOrphans());
    const startOwn = async (name: string) => {
      const server = await startPostgres({ dataDir: path.join(folder, name), log: () => {} });
      stops.push(() => server.stop());
      return server;
    };
    const postgres = await startOwn('postgres');
    const temporalPostgres = await startOwn('temporal-postgres');
    // Each stage has its own keys, so it has its own data.
    const serversWith = async (database: string) => {
      const databaseUrl = postgres.url(database);
      await migrate(databaseUrl);
      return { databaseUrl, temporalAddress: temporal.address, modelMs: MODEL_MS };
    };
    const behindTemporal = await toxiproxy.before('temporal-database', new URL(temporalPostgres.url('postgres')).host);
    const throughProxy = (database: string) => {
      const url = new URL(temporalPostgres.url(database));
      url.host = `127.0.0.1:${behindTemporal.port}`;
      return url.href;
    };
    const temporal = await startTemporalServer(folder, { ...temporalPostgres, url: throughProxy }, report);
    stops.push(() => temporal.stop());
    const run = async <Proxy extends Before>(stage: NetworkStage<Proxy>, link: string, name: string, fault: Fault) => {
      const outcome = await runCell(stage, fault);
      const wrong = faultsOf(outcome, fault.recoveryMs);
      rows.push({ link, fault: name, outcome, wrong });
      report(
        `${link} | ${name} | ${lineOf(outcome)}${wrong
          .map((what) => `\n    ${what}`)
          .slice(0, 12)
          .join('')}`,
      );
      await writeFile(JSON_FILE, `${JSON.stringify(rows, undefined, 2)}\n`);
      if (wrong.length === 0) return;
      await writeFile(path.join(PROJECT, '.cache', 'network-api.log'), stage.api.output());
      await writeFile(path.join(PROJECT, '.cache', 'network-worker.log'), stage.worker.output());
    };
    const isMeant = (link: string, fault: string) =>
      link.includes(only.link ?? '') &&
      fault.includes(only.fault ?? '') &&
      !rows.some((row) => row.link === link && row.fault === fault);

    const toxic = await startNetworkStage<ToxicProxy>({
      ...(await serversWith('toxic')),
      before: (name, target) => toxiproxy.before(name.replaceAll(/\W+/g, '-'), target),
    });
    const links: Record<string, ToxicProxy> = { ...toxic.links, [TEMPORAL_DATABASE]: behindTemporal };
    for (const [link, proxy] of Object.entries(links)) {
      for (const [name, { toxics, ms }] of Object.entries(FAULTS)) {
        if (!isMeant(link, name)) continue;
        await run(toxic, link, name, {
          ms,
          begin: async () => {
            if (typeof toxics === 'string') await proxy.disable();
            else for (const each of toxics) await proxy.add(each);
          },
          end: () => proxy.restore(),
        });
      }
    }
    await toxic.end();

    const plain = await startNetworkStage<TcpProxy>({
      ...(await serversWith('plain')),
      before: startPlainProxy,
      env: { MODEL_TIMEOUT: `${MODEL_TIMEOUT_MS}ms` },
    });
    for (const link of LINKS) {
      if (!isMeant(link, STRANDED)) continue;
      const begin = async () => plain.links[link].strand();
      const recoveryMs = link === 'caller – API' ? CALLER_RECOVERY_MS : STRANDED_RECOVERY_MS;
      const times = { ms: 0, afterMs: STRANDED_AFTER_MS, recoveryMs };
      await run(plain, link, STRANDED, { ...times, begin, end: async () => {} });
    }
    await plain.end();
  } finally {
    for (const stop of stops.reverse()) await stop();
    await rm(folder, { recursive: true, force: true });
  }
  console.log(tableOf(rows));
  const bad = rows.filter(({ wrong }) => wrong.length > 0);
  console.log(`${rows.length - bad.length} of ${rows.length} held.`);
  return bad.length === 0 ? 0 : 1;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function lineOf({ begun, endedMeanwhile, lost, paidTwice, deliveredTwice, firstMs, normalMs }: CellOutcome): string {
  const first = Object.entries(firstMs).map(([kind, ms]) => `${kind} ${seconds(ms)}`);
  return `${begun} begun, ${endedMeanwhile} ended meanwhile, ${lost.length} lost, ${paidTwice} calls and ${deliveredTwice} deliveries repeated, first: ${first.join(', ')}, normal: ${seconds(normalMs)}`;
}

/** In the format of docs/reliability.md: for each cell, the slowest recovery. */
function tableOf(rows: readonly Cell[]): string {
  const links = [...LINKS, TEMPORAL_DATABASE].filter((link) => rows.some((row) => row.link === link));
  const head = ['fault', ...links];
  const faults = [...Object.keys(FAULTS), STRANDED].filter((fault) => rows.some((row) => row.fault === fault));
  const lines = faults.map((fault) => {
    const cells = links.map((link) => {
      const found = rows.find((row) => row.link === link && row.fault === fault);
      if (found === undefined) return '';
      const { outcome, wrong } = found;
      const slowest = Math.max(...Object.values(outcome.firstMs), outcome.normalMs);
      const repeated = outcome.paidTwice + outcome.deliveredTwice;
      return `${wrong.length === 0 ? '' : '**no** '}${seconds(slowest)}${repeated === 0 ? '' : ` (${repeated})`}`;
    });
    return `| ${[fault, ...cells].join(' | ')} |`;
  });
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...lines].join('\n');
}

process.exit(await main());
