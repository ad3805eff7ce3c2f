import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { mapNames } from '../names.ts';
import { JAVASCRIPT } from './javascript.ts';
import { type FoundPrompt, NoPromptError, promptOfCall } from './prompt-of-call.ts';
import { PYTHON } from './python.ts';
import { callsIn, type Language } from './source-reader.ts';

const LANGUAGES: Readonly<Record<string, Language>> = {
  ...Object.fromEntries(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'].map((end) => [end, JAVASCRIPT])),
  '.py': PYTHON,
};
/** Folders of installed or built files, which are not source code. */
const LEFT_OUT = new Set([
  'node_modules',
  'dist',
  'build',
  'out',
  'target',
  'vendor',
  'venv',
  '__pycache__',
  'coverage',
]);
/** A larger file is probably generated. */
const MAX_BYTES = 1024 * 1024;

interface Place {
  file: string;
  /** From 1. */
  line: number;
  /** `client.chat.completions.create` */
  callee: string;
}

/** A prompt with its proposed name. */
export interface NamedPrompt extends Place, FoundPrompt {
  name: string;
}

/** A model call whose prompt could not be extracted. */
export interface SkippedCall extends Place {
  reason: string;
}

export interface Findings {
  files: number;
  prompts: NamedPrompt[];
  skipped: SkippedCall[];
}

/** The source files of a path, without hidden folders and installed or built files. */
async function sourcesIn(place: string): Promise<string[]> {
  if (!(await stat(place)).isDirectory()) return [place];
  const entries = (await readdir(place, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const inside = entries.map(async (entry) => {
    const at = path.join(place, entry.name);
    if (entry.isDirectory()) return entry.name.startsWith('.') || LEFT_OUT.has(entry.name) ? [] : sourcesIn(at);
    return entry.isFile() && Object.hasOwn(LANGUAGES, path.extname(at)) ? [at] : [];
  });
  return (await Promise.all(inside)).flat();
}

/** The name of a prompt in a file: from the file's path and the function. */
function nameOf(file: string, root: string, scope: string | undefined): string {
  const { dir, name } = path.parse(path.relative(root, file));
  const segments = [...dir.split(path.sep), ...(name === 'index' || name === '__init__' ? [] : [name])];
  const own = segments.filter((segment) => segment !== '' && segment !== '..' && segment !== 'src');
  return [...own, ...(scope === undefined ? [] : [scope])].join('/') || 'prompt';
}

/** Makes the names unique. */
function distinct(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

/**
 * Finds model calls and the prompts written in them. It neither runs nor changes code.
 * @param places files and folders
 * @param model for prompts that name none
 */
export async function findPrompts(places: readonly string[], model: string | undefined): Promise<Findings> {
  const found: (Place & FoundPrompt)[] = [];
  const wanted: string[] = [];
  const skipped: SkippedCall[] = [];
  let files = 0;
  for (const place of places)
    for (const file of await sourcesIn(place)) {
      const language = LANGUAGES[path.extname(file)];
      if (language === undefined || (await stat(file)).size > MAX_BYTES) continue;
      files += 1;
      for (const call of callsIn(await readFile(file, 'utf8'), language)) {
        const at = { file, line: call.line, callee: call.callee.join('.') };
        try {
          const prompt = promptOfCall(call, model);
          const root = file === place ? path.dirname(file) : place;
          if (prompt === undefined) continue;
          found.push({ ...at, ...prompt });
          wanted.push(nameOf(file, root, call.scope));
        } catch (error) {
          if (!(error instanceof NoPromptError)) throw error;
          skipped.push({ ...at, reason: error.message });
        }
      }
    }
  const own = distinct(wanted);
  const names = mapNames('prompt', own);
  const prompts = found.map((prompt, index) => ({ ...prompt, name: names.get(own[index] ?? '') ?? '' }));
  return { files, prompts, skipped };
}
