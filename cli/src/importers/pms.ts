import { promptNameProblem } from '../../../src/domain/prompts/prompt-name.ts';
import { INDEX_FILE, Index } from '../export/layout.ts';
import { isObject } from '../json.ts';
import { parsePromptFile } from '../prompt-file.ts';
import { parseWith } from '../prompt-version.ts';
import {
  type Example,
  type Import,
  ImportError,
  type ImportedPrompt,
  type ImportedVersion,
  type NoteExample,
} from './model.ts';
import type { Thing } from './report.ts';
import type { ImportSettings } from './settings.ts';
import { fileInside, readJson, readJsonLines, readText, type SourceFile } from './source-files.ts';

const MAX_PROMPT_FILE_BYTES = 4 * 1024 * 1024;

async function requireFile(folder: string, file: string): Promise<SourceFile> {
  const found = await fileInside(folder, file);
  if (found === undefined) throw new ImportError(`${folder}/${file}: is missing, though ${INDEX_FILE} names it`);
  return found;
}

async function readVersion(folder: string, file: string, name: string, version: number): Promise<ImportedVersion> {
  const source = await requireFile(folder, `${file}@${version}.yaml`);
  const { prompt } = parsePromptFile(await readText(source, MAX_PROMPT_FILE_BYTES), source.name);
  if (prompt.name !== name || (prompt.version ?? version) !== version)
    throw new ImportError(
      `${source.name}: is version ${prompt.version} of "${prompt.name}", not version ${version} of "${name}"`,
    );
  const { name: _name, version: _version, description: _description, ...content } = prompt;
  return content;
}

async function readPrompt(folder: string, entry: Index['prompts'][number], thing: Thing): Promise<ImportedPrompt> {
  const { name, file, description, archived, labels, versions_created_at: times } = entry;
  const problem = promptNameProblem(name);
  if (problem !== undefined) throw new ImportError(`${INDEX_FILE}: the prompt "${name}" ${problem}`);
  const dangling = Object.entries(labels).find(([, version]) => version > times.length);
  if (dangling !== undefined)
    throw new ImportError(
      `${INDEX_FILE}: the label "${dangling[0]}" of "${name}" points at version ${dangling[1]}, which is not there`,
    );
  const versions: ImportedVersion[] = [];
  for (const [index, created_at] of times.entries())
    versions.push({ ...(await readVersion(folder, file, name, index + 1)), created_at });
  return { name, ...(description !== null && { description }), archived, versions, labels, thing };
}

async function* readExamples(file: SourceFile, note: NoteExample): AsyncGenerator<Example, void, undefined> {
  for await (const { line, value } of readJsonLines(file)) {
    // The service validates the rest, and names the line.
    if (isObject(value) && isObject(value['variables'])) yield value as unknown as Example;
    else note('left out', 'a line is not an example', `line ${line}`);
  }
}

/**
 * Reads an export of `pms export`.
 * @throws ImportError, PromptFileError naming the invalid file
 */
export async function importPms(folder: string, { report }: ImportSettings): Promise<Import> {
  const indexFile = await fileInside(folder, INDEX_FILE);
  if (indexFile === undefined)
    throw new ImportError(`${folder}: has no ${INDEX_FILE}: it is not a complete export of pms`);
  const parsed = parseWith(Index, await readJson(indexFile));
  if ('problem' in parsed) throw new ImportError(`${INDEX_FILE}: ${parsed.problem.path} ${parsed.problem.message}`);
  const index = parsed.data;
  const prompts: ImportedPrompt[] = [];
  for (const entry of index.prompts) prompts.push(await readPrompt(folder, entry, report.add('prompt', entry.name)));
  const datasets = [];
  for (const { name, file, description } of index.datasets) {
    const source = await requireFile(folder, file);
    const thing = report.add('dataset', name);
    const read = (note: NoteExample) => readExamples(source, note);
    datasets.push({ name, ...(description !== null && { description }), thing, read });
  }
  return {
    prompts,
    datasets,
    evaluations: [],
    schedules: index.schedules.map((definition) => ({ definition, thing: report.add('schedule', definition.name) })),
    webhooks: index.webhooks.map((definition) => ({ definition, thing: report.add('webhook', definition.url) })),
    protectedLabels: index.protected_labels.map((label) => ({ label, thing: report.add('label', label) })),
  };
}
