import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Builds the ES modules of clients/typescript as its package has them.
 * @param folder for what is its `dist`
 * @param options of tsc besides
 */
export async function buildClient(folder: string, options: readonly string[] = []): Promise<void> {
  const project = path.join(root, 'clients/typescript/tsconfig.build.json');
  await promisify(execFile)('npx', ['tsc', '--project', project, '--outDir', folder, ...options], { cwd: root });
}

const ENTRIES = { core: 'index.js', requests: 'requests/index.js', evaluate: 'evaluate/evaluate.js' };

/** What a module imports when it is loaded, and that, and so on: texts by their files. */
async function loadedBy(file: string, loaded = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
  if (loaded.has(file)) return loaded;
  const text = await readFile(file, 'utf8');
  loaded.set(file, text);
  for (const [, named = ''] of text.matchAll(/(?:from|^import) ?["'](\.[^"']+)["']/gm))
    await loadedBy(path.resolve(path.dirname(file), named), loaded);
  return loaded;
}

/**
 * All JavaScript of a built client, one file after the other.
 * @param part what `pms-client` loads; what `pms-client/requests`, and what `Pms.evaluate` when it is called, load besides
 */
export async function readBuilt(folder: string, part: keyof typeof ENTRIES = 'core'): Promise<string> {
  const load = (entry: string) => loadedBy(path.join(folder, 'clients/typescript/src', entry));
  const core = part === 'core' ? new Map<string, string>() : await load(ENTRIES.core);
  return [...(await load(ENTRIES[part]))].flatMap(([file, text]) => (core.has(file) ? [] : [text])).join('\n');
}

/** Bytes of a text as a web server sends it. */
export const compressedBytes = (text: string): number => gzipSync(text, { level: 9 }).length;
