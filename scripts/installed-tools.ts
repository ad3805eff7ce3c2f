import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { userCacheDir } from '../src/embedded/programs/cache-dir.ts';
import { run } from './python.ts';

/**
 * The packages of a folder of tools/, installed once per user; after that no network is needed.
 * @returns their node_modules
 */
export async function installedTools(
  name:
    | 'openapi-ts'
    | 'runtimes'
    | 'package-checks'
    | 'openapi-lint'
    | 'generated-clients'
    | 'samples'
    | 'instrumentations',
): Promise<string> {
  const home = fileURLToPath(new URL(`../tools/${name}`, import.meta.url));
  const lock = readFileSync(path.join(home, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = path.join(userCacheDir(process.env), name, hash);
  if (!existsSync(folder)) await install(home, folder);
  return path.join(folder, 'node_modules');
}

async function install(home: string, folder: string): Promise<void> {
  mkdirSync(path.dirname(folder), { recursive: true });
  // Created under another name and renamed, so that it is never found incomplete.
  const aside = mkdtempSync(`${folder}-`);
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      cpSync(path.join(home, file), path.join(aside, file));
    const { code, output } = await run('npm', ['ci', '--ignore-scripts'], { cwd: aside });
    if (code !== 0) throw new Error(`The packages of ${home} can't be installed. ${output}`);
    try {
      renameSync(aside, folder);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
