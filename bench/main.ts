import { mkdir, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { measureEvaluations } from './evaluations.ts';
import { measureExecutions } from './executions.ts';
import { measureMemory } from './memory.ts';
import { measurePromptRead } from './prompt-read.ts';
import { measureReads } from './reads.ts';
import { format, type Outcome } from './report.ts';
import { startServers } from './servers.ts';
import { measureStart } from './start.ts';
import { measureUpload } from './upload.ts';
import { measureWebhooks } from './webhooks.ts';

/** What a benchmark may need. */
interface Means {
  report: (line: string) => void;
  profileFolder: string | undefined;
}

const report = (line: string) => console.error(line);

/** Each has servers of its own, so that none slows the next by what it left behind. */
const BENCHMARKS: Record<string, (means: Means) => Promise<Outcome>> = {
  executions: (means) => withServers(means, measureExecutions),
  'prompt-read': (means) => withServers(means, measurePromptRead),
  reads: (means) => withServers(means, measureReads),
  start: () => measureStart(),
  memory: (means) => withServers(means, measureMemory),
  evaluations: (means) => withServers(means, measureEvaluations),
  upload: (means) => withServers(means, measureUpload),
  webhooks: (means) => withServers(means, measureWebhooks),
};

async function withServers(
  { report, profileFolder }: Means,
  measure: (servers: Awaited<ReturnType<typeof startServers>>, profileFolder?: string) => Promise<Outcome>,
): Promise<Outcome> {
  const servers = await startServers(report);
  try {
    return await measure(servers, profileFolder);
  } finally {
    await servers.stop();
  }
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** A file for the numbers. */
    json: { type: 'string' },
    /** A folder for CPU profiles of the service. */
    profile: { type: 'string' },
  },
});

const unknown = positionals.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${Object.keys(BENCHMARKS).join(', ')}.`);
  process.exit(1);
}
if (options.profile !== undefined) await mkdir(options.profile, { recursive: true });

const outcomes: Outcome[] = [];
for (const [name, measure] of Object.entries(BENCHMARKS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.error(`measuring ${name}…`);
  const outcome = await measure({ report, profileFolder: options.profile });
  outcomes.push(outcome);
  console.log(`\n${format(outcome)}`);
}
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(outcomes, undefined, 2)}\n`);

const missed = outcomes.flatMap(({ rows }) => rows.filter(({ met }) => met === false));
console.log(missed.length === 0 ? 'Every target was met.' : `${missed.length} targets were missed.`);
