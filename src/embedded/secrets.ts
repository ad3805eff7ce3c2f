import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes a file that only its owner can read, whole or not at all. */
async function writeSecret(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(unfinished, `${text}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}

/**
 * Returns the secret in the data directory, or creates it.
 * @param wanted replaces an existing one
 */
export async function keptSecret(
  dataDir: string,
  name: string,
  make: () => string,
  wanted?: string,
): Promise<{ text: string; file: string; isNew: boolean }> {
  const file = path.join(dataDir, name);
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (known !== '' && (wanted === undefined || wanted === known)) return { text: known, file, isNew: false };
  const text = wanted ?? make();
  await writeSecret(file, text);
  return { text, file, isNew: true };
}
