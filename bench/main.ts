import { mkdir, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { measureClients } from './clients.ts';
import { measureCluster } from './cluster.ts';
import { measureComparisons } from './comparisons.ts';
import { measureConsole } from './console.ts';
import { measureCosts } from './costs.ts';
import { measureEvaluations } from './evaluations.ts';
import { measureExecutions } from './executions.ts';
import { measureAttacks } from './full-attacks.ts';
import { measureImprovementSeeds } from './improvement-seeds.ts';
import { measureImprovements } from './improvements.ts';
import { measureKills } from './kills.ts';
import type { Means } from './means.ts';
import { measureMemory } from './memory.ts';
import { measureNeighbours } from './neighbours.ts';
import { measurePromptRead } from './prompt-read.ts';
import { measureReads } from './reads.ts';
import { measureRecord } from './record.ts';
import { measureReleases } from './releases.ts';
import { format, type Outcome } from './report.ts';
import { currentLoad, lastRun, saveRun } from './results.ts';
import { measureRetention } from './retention.ts';
import { measureRouting } from './routing.ts';
import { measureRules } from './rules.ts';
import { measureSearch } from './search.ts';
import { startServers } from './servers.ts';
import { measureSoak } from './soak.ts';
import { measureStart } from './start.ts';
import { measureStreams } from './streams.ts';
import { measureTelemetry } from './telemetry.ts';
import { measureTraces } from './traces.ts';
import { measureUpload } from './upload.ts';
import { measureWebhooks } from './webhooks.ts';

const report = (line: string) => console.error(line);

/** Each has its own servers, so that no benchmark affects the next one. */
const BENCHMARKS: Record<string, (means: Means) => Promise<Outcome>> = {
  executions: (means) => withServers(means, measureExecutions),
  routing: (means) => withServers(means, measureRouting),
  rules: (means) => withServers(means, measureRules),
  'prompt-read': (means) => withServers(means, measurePromptRead),
  reads: (means) => withServers(means, measureReads),
  retention: (means) => withServers(means, measureRetention),
  search: (means) => measureSearch(means),
  start: () => measureStart(),
  memory: (means) => withServers(means, measureMemory),
  evaluations: (means) => withServers(means, measureEvaluations),
  upload: (means) => withServers(means, measureUpload),
  webhooks: (means) => withServers(means, measureWebhooks),
  streams: (means) => withServers(means, measureStreams),
  telemetry: (means) => withServers(means, measureTelemetry),
  clients: (means) => withServers(means, measureClients),
  console: (means) => withServers(means, measureConsole),
  kills: (means) => withServers(means, measureKills),
  costs: (means) => measureCosts(means),
  cluster: (means) => measureCluster(means),
  releases: (means) => measureReleases(means),
  record: (means) => withServers(means, measureRecord),
  traces: (means) => withServers(means, measureTraces),
  neighbours: (means) => withServers(means, measureNeighbours),
  attacks: (means) => withServers(means, measureAttacks),
  'improvement-seeds': (means) => withServers(means, measureImprovementSeeds),
  comparisons: (means) => measureComparisons(means),
  improvements: (means) => measureImprovements(means),
  soak: (means) => measureSoak(means),
};

/** Long benchmarks: run only if named. */
const BY_NAME_ONLY = new Set(['soak', 'neighbours', 'attacks', 'improvement-seeds']);

async function withServers(
  means: Means,
  measure: (servers: Awaited<ReturnType<typeof startServers>>, means: Means) => Promise<Outcome>,
): Promise<Outcome> {
  const servers = await startServers(means.report);
  try {
    return await measure(servers, means);
  } finally {
    await servers.stop();
  }
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** A file for the results. */
    json: { type: 'string' },
    /** A folder for CPU profiles of the service. */
    profile: { type: 'string' },
    /** The duration of the soak; default: 120. */
    minutes: { type: 'string' },
    /** Executions per second of the soak, with its other work in proportion; default: 3. */
    rate: { type: 'string' },
    /** Number of rounds; default: as the benchmark sets it. */
    rounds: { type: 'string' },
    /** Adds the results to `bench/results`. */
    save: { type: 'boolean', default: false },
  },
});

const unknown = positionals.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${Object.keys(BENCHMARKS).join(', ')}.`);
  process.exit(1);
}
if (options.profile !== undefined) await mkdir(options.profile, { recursive: true });

const rounds = options.rounds === undefined ? undefined : Number(options.rounds);
if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
  console.error('--rounds takes a whole number from 1.');
  process.exit(1);
}
const minutes = options.minutes === undefined ? undefined : Number(options.minutes);
if (minutes !== undefined && !(Number.isFinite(minutes) && minutes >= 1)) {
  console.error('--minutes takes a number from 1.');
  process.exit(1);
}
const rate = options.rate === undefined ? undefined : Number(options.rate);
if (rate !== undefined && !(Number.isFinite(rate) && rate > 0)) {
  console.error('--rate takes a number above 0.');
  process.exit(1);
}
if (options.save && rounds !== undefined) {
  console.error('Runs with --rounds are not saved: they cannot be compared with whole ones.');
  process.exit(1);
}

// Child processes end when this process exits, which a signal alone would bypass.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const outcomes: Outcome[] = [];
for (const [name, measure] of Object.entries(BENCHMARKS)) {
  if (positionals.length > 0 ? !positionals.includes(name) : BY_NAME_ONLY.has(name)) continue;
  console.error(`measuring ${name}…`);
  const loadBefore = currentLoad();
  const outcome = await measure({ report, profileFolder: options.profile, rounds, minutes, rate });
  outcomes.push(outcome);
  console.log(`\n${format(outcome, await lastRun(name))}`);
  if (options.save && outcome.skipped === undefined) await saveRun(name, outcome, loadBefore);
}
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(outcomes, undefined, 2)}\n`);

const missed = outcomes.flatMap(({ rows }) => rows.filter(({ met }) => met === false));
console.log(missed.length === 0 ? 'Every target was met.' : `${missed.length} targets were missed.`);
