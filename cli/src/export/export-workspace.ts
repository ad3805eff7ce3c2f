import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CliError, EXIT } from '../exit-status.ts';
import type { DatasetRecord, PromptRecord, WorkspaceReader } from '../importers/workspace.ts';
import { pathInside, requireName } from '../named-path.ts';
import { formatPromptFile } from '../prompt-file.ts';
import { versionOf } from '../prompt-version.ts';
import { collect, requireEmpty, writeInside } from './files.ts';
import { FileNames, FORMAT, INDEX_FILE, type Index } from './layout.ts';

/** Numbers of written records. */
export interface Exported {
  prompts: number;
  versions: number;
  datasets: number;
  examples: number;
}

/** Maximum number of deleted versions per prompt that an export fills in. */
const MAX_DELETED = 10_000;

/**
 * Fills gaps left by deleted versions with the version that follows: an import numbers versions without gaps, and labels and
 * includes (`name@3`) must keep their meaning.
 * @throws CliError if too many are missing
 */
function withoutGaps(records: PromptRecord[]): PromptRecord[] {
  const filled: PromptRecord[] = [];
  for (const record of records.toSorted((a, b) => a.version - b.version)) {
    if (!(record.version - filled.length <= MAX_DELETED))
      throw new CliError(EXIT.service, `More than ${MAX_DELETED} versions of "${record.name}" are missing.`);
    while (filled.length + 1 < record.version)
      filled.push({
        ...record,
        version: filled.length + 1,
        labels: [],
        commit_message: 'Replaces a deleted version.',
      });
    filled.push(record);
  }
  return filled;
}

async function exportPrompt(folder: string, file: string, records: PromptRecord[]): Promise<Index['prompts'][number]> {
  const latest = records.at(-1);
  if (latest === undefined) throw new Error('The service lists a prompt without versions.');
  for (const record of records) {
    const { name, version, commit_message } = record;
    const prompt = { name, version, ...(commit_message !== null && { commit_message }), ...versionOf(record) };
    await writeInside(folder, `${file}@${version}.yaml`, formatPromptFile(prompt));
  }
  return {
    name: latest.name,
    file,
    description: latest.description,
    archived: latest.archived,
    labels: Object.fromEntries(records.flatMap(({ labels, version }) => labels.map((label) => [label, version]))),
    versions_created_at: records.map(({ version_created_at }) => version_created_at),
  };
}

async function exportDataset(
  folder: string,
  file: string,
  { name, description }: DatasetRecord,
  reader: WorkspaceReader,
): Promise<Index['datasets'][number]> {
  const target = pathInside(folder, file);
  await mkdir(path.dirname(target), { recursive: true });
  let total = 0;
  await pipeline(async function* () {
    for await (const { id, variables, expected, metadata } of reader.examples(name)) {
      total += 1;
      yield `${JSON.stringify({ id, variables, expected, metadata })}\n`;
    }
  }, createWriteStream(target));
  return { name, file, description, examples_total: total };
}

/**
 * Writes all prompts with all versions, the latest version of each dataset, schedules, webhooks without secrets, and protected
 * labels. The index is written last, so that an interrupted export is not mistaken for a complete one.
 * @throws ImportError if the folder is not empty; CliError if the service returns a name that is not a valid file name
 */
export async function exportWorkspace(folder: string, reader: WorkspaceReader, now = new Date()): Promise<Exported> {
  await requireEmpty(folder);
  const files = { prompts: new FileNames('prompts'), datasets: new FileNames('datasets') };
  const exported: Exported = { prompts: 0, versions: 0, datasets: 0, examples: 0 };
  const index: Index = {
    format: FORMAT,
    exported_at: now.toISOString(),
    prompts: [],
    datasets: [],
    schedules: await collect(reader.schedules()),
    webhooks: await collect(reader.webhooks()),
    protected_labels: await collect(reader.protectedLabels()),
  };
  for await (const { name } of reader.prompts()) {
    const records = await collect(reader.versions(name));
    index.prompts.push(await exportPrompt(folder, files.prompts.of(requireName('prompt', name)), withoutGaps(records)));
    exported.prompts += 1;
    exported.versions += records.length;
  }
  for await (const dataset of reader.datasets()) {
    const written = await exportDataset(
      folder,
      `${files.datasets.of(requireName('dataset', dataset.name))}@${dataset.version}.jsonl`,
      dataset,
      reader,
    );
    index.datasets.push(written);
    exported.datasets += 1;
    exported.examples += written.examples_total;
  }
  await writeInside(folder, INDEX_FILE, `${JSON.stringify(index, null, 2)}\n`);
  return exported;
}
