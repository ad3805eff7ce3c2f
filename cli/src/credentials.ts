import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import envPaths from 'env-paths';
import { CliError, EXIT } from './exit-status.ts';
import { isObject } from './json.ts';

export interface Credentials {
  /** The service's address, without `/v1`. */
  url: string;
  apiKey: string;
  /** Whether `pms login` created the key: then `pms logout` revokes it. */
  isOwn?: boolean;
}

/** Everything that `pms login` saves. */
export interface Profiles {
  file: string;
  /** The profile used by default; undefined if none. */
  current: string | undefined;
  byName: Map<string, Credentials>;
}

const DEFAULT_PROFILE = 'default';

/** The file for the keys of `pms login`. `PMS_CONFIG_DIR` sets another folder. */
export function credentialsFile(env: NodeJS.ProcessEnv): string {
  const folder = env['PMS_CONFIG_DIR'] || envPaths('pms', { suffix: '' }).config;
  return path.join(folder, 'credentials.json');
}

function credentialsOf(record: unknown): Credentials | undefined {
  if (!isObject(record)) return undefined;
  const { url, api_key: apiKey, is_own: isOwn } = record;
  return typeof url === 'string' && typeof apiKey === 'string' ? { url, apiKey, isOwn: isOwn === true } : undefined;
}

/** Parses a credentials file. @returns undefined if it is not one */
function parseProfiles(text: string): Omit<Profiles, 'file'> | undefined {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(content)) return undefined;
  // Version 1.0 stored one login, without a name.
  const records = isObject(content['profiles']) ? content['profiles'] : { [DEFAULT_PROFILE]: content };
  const current = isObject(content['profiles']) ? content['current'] : DEFAULT_PROFILE;
  const byName = new Map<string, Credentials>();
  for (const [name, record] of Object.entries(records)) {
    const credentials = credentialsOf(record);
    if (credentials === undefined) return undefined;
    byName.set(name, credentials);
  }
  return { current: typeof current === 'string' && byName.has(current) ? current : undefined, byName };
}

/** Empty if there is no login. @throws CliError if the file is not a credentials file */
export async function readProfiles(env: NodeJS.ProcessEnv): Promise<Profiles> {
  const file = credentialsFile(env);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const profiles = text === undefined ? { current: undefined, byName: new Map() } : parseProfiles(text);
  if (profiles === undefined)
    throw new CliError(EXIT.usage, `${file} is not a credentials file: remove it and run pms login again.`);
  return { file, ...profiles };
}

/** The selected profile: from `--profile` or `PMS_PROFILE`, otherwise the current one. @returns undefined if there is none */
export function profileName({ PMS_PROFILE: name }: NodeJS.ProcessEnv, { current }: Profiles): string | undefined {
  return name || current;
}

/** Whether others on this machine can read a file. Always false on Windows, which has no such mode. */
export async function isReadableByOthers(file: string): Promise<boolean> {
  return process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0;
}

/** Saves profiles, readable by this user only. The file is replaced atomically. */
export async function writeProfiles({ file, current, byName }: Profiles): Promise<void> {
  if (byName.size === 0) return rm(file, { force: true });
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const records = [...byName].map(([name, { url, apiKey, isOwn = false }]) => [
    name,
    { url, api_key: apiKey, is_own: isOwn },
  ]);
  const content = { ...(current !== undefined && { current }), profiles: Object.fromEntries(records) };
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}

/** A name starts with a letter or digit, so that it is not taken for an option or a path. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The profile name for a login. @throws CliError if the name is invalid */
export function nameOfLogin(env: NodeJS.ProcessEnv): string | undefined {
  const { PMS_PROFILE: name } = env;
  if (name && !NAME.test(name))
    throw new CliError(
      EXIT.usage,
      `${name} is not a valid profile name: use up to 64 letters, digits, ".", "_" and "-".`,
    );
  return name || undefined;
}

/** Saves a login. The first one becomes the current one. @returns the file and the profile */
export async function keepLogin(env: NodeJS.ProcessEnv, login: Credentials): Promise<{ file: string; name: string }> {
  const profiles = await readProfiles(env);
  const name = nameOfLogin(env) ?? profiles.current ?? DEFAULT_PROFILE;
  profiles.byName.set(name, login);
  await writeProfiles({ ...profiles, current: profiles.current ?? name });
  return { file: profiles.file, name };
}

/** Removes a login. If it was the current one, there is no current one afterwards. */
export async function forgetLogin(env: NodeJS.ProcessEnv, name: string): Promise<void> {
  const profiles = await readProfiles(env);
  profiles.byName.delete(name);
  await writeProfiles({ ...profiles, current: profiles.current === name ? undefined : profiles.current });
}
