import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSource } from '../../../cli/src/importers/import-source.ts';
import type { Example, Import } from '../../../cli/src/importers/model.ts';
import { planImport, type Step } from '../../../cli/src/importers/plan.ts';
import { formatReportLine } from '../../../cli/src/importers/report.ts';
import { importSettings } from '../../../cli/src/importers/settings.ts';
import type { WorkspaceReader } from '../../../cli/src/importers/workspace.ts';

/** A file or folder of the fixtures. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}

/** A workspace that holds nothing. */
export const emptyWorkspace: WorkspaceReader = {
  prompts: nothing,
  versions: nothing,
  datasets: nothing,
  examples: nothing,
  schedules: nothing,
  webhooks: nothing,
  protectedLabels: nothing,
  scoreDefinitions: nothing,
  queues: nothing,
  savedEvaluation: async () => undefined,
};

/** The result of importing files into an empty workspace. */
export interface Planned {
  imported: Import;
  steps: Step[];
  report: string[];
}

export async function planFiles(source: string, location: string, defaultModel?: string): Promise<Planned> {
  const settings = importSettings(defaultModel);
  const imported = await readSource(source, location, settings);
  const steps = await planImport(imported, emptyWorkspace);
  return { imported, steps, report: settings.report.lines.map(formatReportLine) };
}

/** The bodies of the versions that a plan creates for a prompt. */
export function versionsOf({ steps }: Pick<Planned, 'steps'>, name: string): Record<string, unknown>[] {
  return steps.flatMap((step) => (step.kind === 'version' && step.name === name ? [step.body] : []));
}

/** All examples of a dataset. */
export async function examplesOf({ imported }: Pick<Planned, 'imported'>, name: string): Promise<Example[]> {
  const dataset = imported.datasets.find((one) => one.name === name);
  const examples: Example[] = [];
  for await (const example of dataset?.read(() => {}) ?? []) examples.push(example);
  return examples;
}

/** Runs with a temporary folder. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-import-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Random numbers that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
