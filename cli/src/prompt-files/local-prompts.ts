import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isMap, isScalar, type Pair, parseDocument } from 'yaml';
import { CliError, EXIT } from '../exit.ts';
import { pathInside, requireName } from '../named-path.ts';
import { formatPromptFile, type ParsedPromptFile, PromptFileError, parsePromptFile } from '../prompt-file.ts';

/** The default folder of prompts. */
export const FOLDER = 'prompts';

/** A prompt in a file. */
export interface LocalPrompt extends ParsedPromptFile {
  file: string;
  text: string;
}

/** A rejected file, and why. */
export interface BrokenFile {
  file: string;
  message: string;
}

const isYaml = (file: string) => /\.ya?ml$/i.test(file);

async function filesAt(place: string): Promise<string[]> {
  if (!(await stat(place)).isDirectory()) return [place];
  const inside = await readdir(place, { recursive: true, withFileTypes: true });
  return inside
    .filter((entry) => entry.isFile() && isYaml(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted();
}

/**
 * Reads the prompts of files and folders.
 * @throws CliError if there are none, or two with the same name
 */
export async function readLocalPrompts(places: string[]): Promise<{ prompts: LocalPrompt[]; broken: BrokenFile[] }> {
  const files = [...new Set((await Promise.all((places.length === 0 ? [FOLDER] : places).map(filesAt))).flat())];
  if (files.length === 0)
    throw new CliError(
      EXIT.usage,
      `There is no .yaml file in ${places.join(', ') || FOLDER}: fetch prompts with pms prompts pull.`,
    );
  const prompts: LocalPrompt[] = [];
  const broken: BrokenFile[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    try {
      prompts.push({ ...parsePromptFile(text, file), file, text });
    } catch (error) {
      if (!(error instanceof PromptFileError)) throw error;
      broken.push({ file, message: error.message });
    }
  }
  for (const [name, own] of Map.groupBy(prompts, ({ prompt }) => prompt.name))
    if (own.length > 1)
      for (const { file } of own.slice(1))
        broken.push({ file, message: `${file}:1: the same name as in ${own[0]?.file}: "${name}"` });
  return { prompts, broken };
}

/**
 * The file for a prompt of the service in a folder: `support/greeting` is `support/greeting.yaml`.
 * @throws CliError if the name is not a valid prompt name
 */
export function fileOf(folder: string, name: string): string {
  return pathInside(folder, `${requireName('prompt', name)}.yaml`);
}

export async function writeFileInFolder(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Records its version in a file. Comments and the order of the fields are preserved. */
export function withVersion({ text, prompt }: LocalPrompt, version: number): string {
  const document = parseDocument(text);
  if (document.has('version')) document.set('version', version);
  else if (isMap(document.contents)) {
    const pair = document.createPair('version', version) as Pair<never, never>;
    const at = document.contents.items.findIndex(({ key }) => isScalar(key) && key.value === 'name');
    document.contents.items.splice(at + 1, 0, pair);
  }
  const written = document.toString({ lineWidth: 0 });
  // If YAML cannot preserve the file, it is rewritten.
  try {
    if (parsePromptFile(written, '').prompt.version === version) return written;
  } catch {
    // Below.
  }
  return formatPromptFile({ ...prompt, version });
}
