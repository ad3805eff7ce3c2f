import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
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

/**
 * All JavaScript of a built client, one file after the other.
 * @param part what is imported by `pms-client`; what `pms-client/requests` has besides; what `Pms.evaluate` imports when it is called
 */
export async function readBuilt(folder: string, part: 'core' | 'requests' | 'evaluate' = 'core'): Promise<string> {
  const partOf = (file: string) =>
    (['requests', 'evaluate'] as const).find((name) => file.includes(`${path.sep}${name}${path.sep}`)) ?? 'core';
  const isOfPart = (file: string) => partOf(file) === part;
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.js') && isOfPart(file));
  return (await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')))).join('\n');
}

/** Bytes of a text as a web server sends it. */
export const compressedBytes = (text: string): number => gzipSync(text, { level: 9 }).length;
