import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import envPaths from 'env-paths';
import { CliError, EXIT } from './exit.ts';

export interface Credentials {
  /** Of the service, without `/v1`. */
  url: string;
  apiKey: string;
  /** Whether `pms login` had the key made: then `pms logout` ends it. */
  isOwn?: boolean;
}

/** Where the key of `pms login` is kept. `PMS_CONFIG_DIR` names another folder. */
export function credentialsFile(env: NodeJS.ProcessEnv): string {
  const folder = env['PMS_CONFIG_DIR'] || envPaths('pms', { suffix: '' }).config;
  return path.join(folder, 'credentials.json');
}

/** @returns undefined where nobody has logged in */
export async function readCredentials(env: NodeJS.ProcessEnv): Promise<(Credentials & { file: string }) | undefined> {
  const file = credentialsFile(env);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const { url, api_key: apiKey, is_own: isOwn } = JSON.parse(text);
    if (typeof url === 'string' && typeof apiKey === 'string') return { url, apiKey, isOwn: isOwn === true, file };
  } catch {
    // Said below.
  }
  throw new CliError(EXIT.usage, `${file} holds no credentials: log in again with pms login.`);
}

/** Whether others on this machine may read a file. Windows has no such mode: there it is said of none. */
export async function isReadableByOthers(file: string): Promise<boolean> {
  return process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0;
}

export const removeCredentials = (file: string): Promise<void> => rm(file, { force: true });

/** Keeps a key for this user alone. A reader never finds half of it. */
export async function writeCredentials(
  env: NodeJS.ProcessEnv,
  { url, apiKey, isOwn = false }: Credentials,
): Promise<string> {
  const file = credentialsFile(env);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify({ url, api_key: apiKey, is_own: isOwn }, undefined, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
  return file;
}
