import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Outcome } from './report.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GIB = 1024 ** 3;

/** Identifies the kind of machine: only runs on the same kind are comparable. */
const Machine = z.object({ cpu: z.string(), cores: z.int(), memoryGib: z.int(), platform: z.string() });
type Machine = z.infer<typeof Machine>;

const SavedRow = z.object({
  name: z.string(),
  unit: z.string(),
  min: z.number().nullable(),
  median: z.number().nullable(),
  max: z.number().nullable(),
  /** Absent if the number has no target. */
  met: z.boolean().optional(),
});

/** One run of a benchmark, as saved in `bench/results/NAME.json`. */
const SavedRun = z.object({
  date: z.iso.datetime(),
  commit: z.string(),
  machine: Machine,
  node: z.string(),
  /** Load average over the minute before the run, from other processes. */
  loadBefore: z.number(),
  benchmark: z.string(),
  rows: z.array(SavedRow),
  /** What was left out, and why. */
  notes: z.array(z.string()).optional(),
});
export type SavedRun = z.infer<typeof SavedRun>;

function thisMachine(): Machine {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / GIB),
    platform: `${process.platform}-${process.arch}`,
  };
}

const isSameMachine = (a: Machine, b: Machine) =>
  a.cpu === b.cpu && a.cores === b.cores && a.memoryGib === b.memoryGib && a.platform === b.platform;

const fileOf = (name: string) => path.join(ROOT, 'bench', 'results', `${name}.json`);

async function savedRuns(name: string): Promise<SavedRun[]> {
  const text = await readFile(fileOf(name), 'utf8').catch(() => '[]');
  return z.array(SavedRun).parse(JSON.parse(text));
}

/** The last saved run of a benchmark on this kind of machine. */
export async function lastRun(name: string): Promise<SavedRun | undefined> {
  const machine = thisMachine();
  return (await savedRuns(name)).findLast((run) => isSameMachine(run.machine, machine));
}

/** The load average before a run; call it before the servers start. */
export const currentLoad = () => Number((loadavg()[0] ?? 0).toFixed(2));

/** Adds a run to those of its benchmark. */
export async function saveRun(name: string, { benchmark, rows, notes }: Outcome, loadBefore: number): Promise<void> {
  const run: SavedRun = {
    date: new Date().toISOString(),
    commit: await currentCommit(),
    machine: thisMachine(),
    node: process.version,
    loadBefore,
    benchmark,
    rows: rows.map(({ name, unit, spread, met }) => ({
      name,
      unit,
      min: rounded(spread.min),
      median: rounded(spread.median),
      max: rounded(spread.max),
      ...(met !== undefined && { met }),
    })),
    ...(notes !== undefined && { notes }),
  };
  await mkdir(path.dirname(fileOf(name)), { recursive: true });
  const lines = [...(await savedRuns(name)), run].map((one) => JSON.stringify(one));
  // One run per line, so that a diff shows only additions.
  await writeFile(fileOf(name), `[\n${lines.join(',\n')}\n]\n`);
}

/** JSON has no NaN and no infinity. */
const rounded = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(6)) : null);

async function currentCommit(): Promise<string> {
  const git = async (...args: string[]) => (await promisify(execFile)('git', args, { cwd: ROOT })).stdout.trim();
  try {
    const changed = await git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      'src',
      'bench',
      'package-lock.json',
    );
    return `${await git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : ' with changes'}`;
  } catch {
    return 'unknown';
  }
}
