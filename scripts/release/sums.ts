import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The list of checksums, in `sha256sum` format. */
export const SUMS = 'SHA256SUMS';
/** Its signature, and its key if that was created only for this folder. */
export const BUNDLE = `${SUMS}.sigstore.json`;
export const PUBLIC_KEY = 'cosign.pub';
const UNLISTED = new Set([SUMS, BUNDLE, PUBLIC_KEY]);

async function sumOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((file) => !UNLISTED.has(file))
    .sort();

/** Writes the checksums of all files of a folder into it. */
export async function writeSums(folder: string): Promise<void> {
  let text = '';
  for (const file of filesIn(folder)) text += `${await sumOf(path.join(folder, file))}  ${file}\n`;
  writeFileSync(path.join(folder, SUMS), text);
}

/** Differences from the list: files that are changed, missing, or not listed. @throws Error if there is no list */
export async function wrongSums(folder: string): Promise<string[]> {
  const list = path.join(folder, SUMS);
  if (!existsSync(list)) throw new Error(`There is no ${SUMS} in ${folder}.`);
  const lines = readFileSync(list, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const listed = new Map<string, string>();
  const wrong: string[] = [];
  for (const line of lines) {
    const [, sum, file] = /^([0-9a-f]{64}) {2}([^/]+)$/.exec(line) ?? [];
    if (sum === undefined || file === undefined) wrong.push(`${SUMS} has the line ${JSON.stringify(line)}`);
    else listed.set(file, sum);
  }
  const present = new Set(filesIn(folder));
  for (const file of present) if (!listed.has(file)) wrong.push(`${file} is not in ${SUMS}`);
  for (const [file, sum] of listed) {
    if (!present.has(file)) wrong.push(`${file} is missing`);
    else if ((await sumOf(path.join(folder, file))) !== sum) wrong.push(`${file} is not the file that was released`);
  }
  return wrong;
}
