import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Builds the ES modules of clients/typescript as in its package.
 * @param folder that becomes its `dist`
 * @param options additional options of tsc
 */
export async function buildClient(folder: string, options: readonly string[] = []): Promise<void> {
  const project = path.join(root, 'clients/typescript/tsconfig.build.json');
  await promisify(execFile)('npx', ['tsc', '--project', project, '--outDir', folder, ...options], { cwd: root });
}

const ENTRIES = { core: 'index.js', requests: 'requests/index.js', evaluate: 'evaluate/evaluate.js' };

/** The modules that a module loads, recursively: source texts by file. */
async function loadedBy(file: string, loaded = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
  if (loaded.has(file)) return loaded;
  const text = await readFile(file, 'utf8');
  loaded.set(file, text);
  for (const [, named = ''] of text.matchAll(/(?:from|^import) ?["'](\.[^"']+)["']/gm))
    await loadedBy(path.resolve(path.dirname(file), named), loaded);
  return loaded;
}

/**
 * All JavaScript of a built client, concatenated.
 * @param part `pms-client`, or what `pms-client/requests` or `Pms.evaluate` load in addition
 */
export async function readBuilt(folder: string, part: keyof typeof ENTRIES = 'core'): Promise<string> {
  const load = (entry: string) => loadedBy(path.join(folder, 'clients/typescript/src', entry));
  const core = part === 'core' ? new Map<string, string>() : await load(ENTRIES.core);
  return [...(await load(ENTRIES[part]))].flatMap(([file, text]) => (core.has(file) ? [] : [text])).join('\n');
}

/** The size of a text as compressed by a web server. */
export const compressedBytes = (text: string): number => gzipSync(text, { level: 9 }).length;
