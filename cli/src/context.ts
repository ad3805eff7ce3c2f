import { ConnectionError, Pms, type PmsError, type PmsOptions, ServiceError } from 'pms-client';
import { type Credentials, isReadableByOthers, profileName, readProfiles } from './credentials.ts';
import { CliError, EXIT } from './exit-status.ts';

/** A stream that commands write to. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean | undefined };

/** The parts of the process that commands use. */
export interface Context {
  stdout: Output;
  stderr: Output;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  env: NodeJS.ProcessEnv;
}

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/**
 * The service's address and the key: from the environment, otherwise from `pms login`.
 * @throws CliError if there is no key
 */
export async function accessOf({ env, stderr }: Context): Promise<Credentials & { source: string }> {
  const [url, apiKey] = [env['PMS_BASE_URL']?.trim(), env['PMS_API_KEY']?.trim()];
  if (apiKey) return { url: url || DEFAULT_URL, apiKey, source: 'PMS_API_KEY' };
  const profiles = await readProfiles(env);
  const name = profileName(env, profiles);
  const stored = profiles.byName.get(name ?? '');
  if (stored === undefined) throw new CliError(EXIT.usage, whyNoKey(name, [...profiles.byName.keys()]));
  const { file } = profiles;
  // A key is sent only to the service that it belongs to.
  if (url && url !== stored.url)
    throw new CliError(EXIT.usage, `PMS_BASE_URL is ${url}, but the key of pms login is for ${stored.url}.`);
  if (await isReadableByOthers(file))
    printLine(stderr, `Other users can read the key in ${file}: run chmod 600 on it, then log in again.`);
  return { ...stored, source: file };
}

function whyNoKey(name: string | undefined, known: readonly string[]): string {
  const names = known.join(', ');
  if (name !== undefined)
    return `There is no profile ${name}${names && ` among ${names}`}: log in with pms login --profile ${name}.`;
  if (names) return `No profile is selected: choose ${names} with pms profile use or --profile.`;
  return 'No key found: run pms login, or set PMS_BASE_URL and PMS_API_KEY.';
}

/**
 * Asks for confirmation of an irreversible action on a terminal. @param yes whether the command line already confirmed it @throws
 * CliError
 */
export async function confirm({ stdin, stderr }: Context, question: string, yes: boolean | undefined): Promise<void> {
  if (yes || !stdin.isTTY) return;
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: stdin, output: stderr });
  const interrupt = new AbortController();
  lines.once('SIGINT', () => interrupt.abort());
  lines.once('close', () => interrupt.abort());
  try {
    const answer = await lines.question(`${safeText(question)} [y/N] `, { signal: interrupt.signal });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    printLine(stderr);
  } finally {
    lines.close();
  }
  throw new CliError(EXIT.usage, 'Aborted; nothing was changed.');
}

const RETRY_SECONDS = 120;
/** Failures of the same outage are less than this apart. */
const NEW_OUTAGE_MS = 30_000;

/** How long to retry while the service is unavailable. @throws CliError */
function retryForMs({ PMS_RETRY_SECONDS: text }: NodeJS.ProcessEnv): number {
  if (!text) return RETRY_SECONDS * 1000;
  if (!/^\d{1,6}$/.test(text))
    throw new CliError(EXIT.usage, `PMS_RETRY_SECONDS is ${text}: use a whole number of seconds, such as 120, or 0.`);
  return Number(text) * 1000;
}

/** Reports once per outage that the command is waiting for the service. */
function reportOutages({ stderr }: Context, url: string, forMs: number): (error: PmsError) => void {
  let toldOfAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const isNew = Date.now() - toldOfAt > NEW_OUTAGE_MS;
    toldOfAt = Date.now();
    if (!isNew || !(error instanceof ConnectionError || error instanceof ServiceError)) return;
    const until = forMs === Number.POSITIVE_INFINITY ? 'until it does' : `for ${forMs / 1000} s`;
    printLine(stderr, safeText(`${url} does not respond (${error.message}). Retrying ${until}.`));
  };
}

/** A client of the service. @param forMs how long to retry while the service is unavailable @throws CliError */
export async function connect(context: Context, forMs: number = retryForMs(context.env)): Promise<Pms> {
  const { url, apiKey } = await accessOf(context);
  return clientOf({ baseUrl: url, apiKey, retryForMs: forMs, onRetry: reportOutages(context, url, forMs) });
}

/** @throws CliError if the address or the key is malformed; it does not show the key */
export function clientOf(options: PmsOptions): Pms {
  try {
    return new Pms(options);
  } catch (error) {
    throw error instanceof TypeError ? new CliError(EXIT.usage, error.message) : error;
  }
}

export function printLine(output: Output, text = ''): void {
  output.write(`${text}\n`);
}

export function printJson(output: Output, value: unknown): void {
  output.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** Escapes untrusted text, which could control a terminal. */
export function safeText(text: string): string {
  return text.replace(/[\p{Cc}--[\n\t]]/gv, (character) => JSON.stringify(character).slice(1, -1));
}
