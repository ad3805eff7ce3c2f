import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { type Api, PmsError, UnauthorizedError } from 'pms-client';
import { accessOf, type Context, clientOf, DEFAULT_URL, printJson, printLine, safeText } from '../context.ts';
import { type Credentials, forgetLogin, keepLogin, nameOfLogin, profileName, readProfiles } from '../credentials.ts';
import { loginByDevice } from '../device-login.ts';
import { CliError, EXIT } from '../exit.ts';
import { isObject } from '../json.ts';
import { formatTable } from '../table.ts';

/** Enough of a key to recognize it. */
const shown = (key: string) => `${key.slice(0, 8)}…`;

/**
 * The service's record of a key.
 * @throws UnauthorizedError, ConnectionError; CliError if the address does not belong to the service
 */
async function readKeyRecord(url: string, apiKey: string): Promise<Api.CurrentApiKey> {
  const pms = clientOf({ baseUrl: url, apiKey, maxRetries: 0 });
  try {
    const record: unknown = await pms.call('getCurrentApiKey', {});
    if (isKeyRecord(record)) return record;
  } catch (error) {
    // Every response of the service has an id.
    if (!(error instanceof PmsError) || error.status === undefined || error.requestId !== undefined) throw error;
    throw noService(url, error.status);
  }
  throw noService(url, 200);
}

const noService = (url: string, status: number) =>
  new CliError(
    EXIT.usage,
    `${url} is not a Prompt Management Service: unexpected response (HTTP ${status}). Check the address.`,
  );

function isKeyRecord(record: unknown): record is Api.CurrentApiKey {
  if (!isObject(record)) return false;
  const { scopes, workspace } = record;
  return Array.isArray(scopes) && isObject(workspace) && typeof workspace['name'] === 'string';
}

/** Reads a key as a line from standard input, without echo on a terminal. */
async function readKey({ stdin, stderr }: Context): Promise<string> {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal: true`, readline handles the keystrokes and echoes them to its output.
  const lines = createInterface(stdin.isTTY ? { input: stdin, output: hidden, terminal: true } : { input: stdin });
  // Only now: anything typed earlier would be echoed.
  if (stdin.isTTY) stderr.write('API key (input is hidden): ');
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', (line) => resolve(line.trim()));
      lines.once('close', () => resolve(''));
      lines.once('SIGINT', () => reject(new CliError(EXIT.usage, 'No key was given.')));
    });
  } finally {
    lines.close();
    if (stdin.isTTY) stderr.write('\n');
  }
}

function checkUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new CliError(EXIT.usage, `${url} is not a service address: use one such as ${DEFAULT_URL}.`);
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

const notOfService = (error: unknown) =>
  error instanceof PmsError && error.status !== undefined && error.requestId === undefined;

interface LoginOptions {
  url: string;
  withKey?: boolean;
  device?: boolean;
  browser: boolean;
}

/** Saves a key that the user provides. */
async function loginByKey(context: Context, url: string): Promise<void> {
  const apiKey = await readKey(context);
  if (apiKey === '') throw new CliError(EXIT.usage, 'No key was given: type it, or pass it on standard input.');
  try {
    await readKeyRecord(url, apiKey);
  } catch (error) {
    if (error instanceof UnauthorizedError) throw new CliError(EXIT.usage, `${url} rejected the key: ${error.message}`);
    throw error;
  }
  printLine(context.stdout, `Logged in to ${url}. ${await keep(context, { url, apiKey })}`);
}

/** Saves a login. @returns a description of where */
async function keep({ env }: Context, login: Credentials): Promise<string> {
  const { file, name } = await keepLogin(env, login);
  const { current } = await readProfiles(env);
  const isUsed = current === name ? '' : `, and used with --profile ${name}`;
  return `The key is in ${file}, as profile ${name}${isUsed}.`;
}

/** Has a key created through the browser, and saves it. @returns whether the service supports it */
async function loginByBrowser(context: Context, { url, browser }: LoginOptions): Promise<boolean> {
  const key = await loginByDevice(context, url, { browser }).catch((error: unknown) => {
    throw notOfService(error) ? noService(url, (error as PmsError).status ?? 0) : error;
  });
  if (key === undefined) return false;
  const kept = await keep(context, { url, apiKey: key.key, isOwn: true });
  printLine(context.stdout, `Logged in to ${url}, workspace ${safeText(key.workspace.name)}. ${kept}`);
  return true;
}

/** Revokes the key if `pms login` created it. @returns what happened to it */
async function endKey({ url, apiKey, isOwn }: Credentials): Promise<string> {
  if (!isOwn) return 'The key is still valid: you passed it to pms login, and others may use it.';
  try {
    await clientOf({ baseUrl: url, apiKey, maxRetries: 0 }).call('revokeCurrentApiKey', {});
    return 'The key is revoked.';
  } catch (error) {
    if (error instanceof UnauthorizedError) return 'The key had already ended.';
    throw error;
  }
}

/** `pms login`. */
export function fillLogin(command: Command, context: Context): void {
  command
    .option('--url <address>', 'address of the service', context.env['PMS_BASE_URL'] || DEFAULT_URL)
    .option('--with-key', 'log in with a key that you type or pipe in, instead of the browser')
    .option('--device', 'log in through the browser even without a terminal')
    .option('--no-browser', 'print the address of the page instead of opening it')
    .addHelpText(
      'after',
      '\nIn a terminal, you approve the login on a console page. Otherwise, the key is read from standard input: pms login < .data/first-api-key',
    )
    .action(async (options: LoginOptions) => {
      if (options.withKey && options.device) throw new CliError(EXIT.usage, 'Give --with-key or --device, not both.');
      nameOfLogin(context.env);
      const url = checkUrl(options.url);
      const byBrowser = options.device ?? (!options.withKey && context.stdin.isTTY === true);
      if (byBrowser && (await loginByBrowser(context, { ...options, url }))) return;
      if (byBrowser) printLine(context.stderr, `${url} does not support browser login: enter a key.`);
      await loginByKey(context, url);
    });
}

/** `pms logout`. */
export function fillLogout(command: Command, context: Context): void {
  const { env, stdout } = context;
  command
    .option('--keep-key', 'delete the local copy without revoking the key')
    .option('--all', 'log out of all profiles')
    .action(async ({ keepKey, all }: { keepKey?: boolean; all?: boolean }) => {
      const profiles = await readProfiles(env);
      const names = all ? [...profiles.byName.keys()] : [profileName(env, profiles) ?? ''];
      const logins = names.flatMap((name) => {
        const login = profiles.byName.get(name);
        return login === undefined ? [] : [[name, login] as const];
      });
      if (logins.length === 0) return printLine(stdout, 'Not logged in.');
      for (const [name, login] of logins) {
        const became = keepKey ? 'The key is still valid.' : await endKey(login);
        await forgetLogin(env, name);
        printLine(stdout, `Logged out of ${login.url}: deleted the key ${shown(login.apiKey)}. ${became}`);
      }
    });
}

/** `pms whoami`. */
export function fillWhoami(command: Command, context: Context): void {
  command.option('--json', 'print JSON').action(async ({ json }: { json?: boolean }) => {
    const { url, apiKey, source } = await accessOf(context);
    const { id, name, scopes, expires_at, workspace, member } = await readKeyRecord(url, apiKey);
    const record = { id, name, member, workspace, scopes, expires_at };
    if (json) return printJson(context.stdout, { url, key: shown(apiKey), source, ...record });
    printLine(context.stdout, `${url} with the key ${shown(apiKey)} from ${source}: valid`);
    // An older service does not return the owner of a key.
    const person = isObject(member) ? [member.name, member.role] : [];
    const row = [name, ...person, workspace.name, scopes.join(' '), expires_at ?? 'never'];
    const columns = ['name', ...(isObject(member) ? ['person', 'role'] : []), 'workspace', 'scopes', 'expires'];
    printLine(context.stdout, formatTable(columns, [row]));
  });
}
