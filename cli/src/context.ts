import { ConnectionError, Pms, type PmsError, type PmsOptions, ServiceError } from 'pms-client';
import { type Credentials, isReadableByOthers, profileName, readProfiles } from './credentials.ts';
import { CliError, EXIT } from './exit-status.ts';

/** A stream that commands write to. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean | undefined };

/** What commands have of the process. */
export interface Context {
  stdout: Output;
  stderr: Output;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  env: NodeJS.ProcessEnv;
}

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/**
 * Where the service is and with which key: from the environment, else from what `pms login` has kept.
 * @throws CliError where there is no key
 */
export async function accessOf({ env, stderr }: Context): Promise<Credentials & { source: string }> {
  const [url, apiKey] = [env['PMS_BASE_URL']?.trim(), env['PMS_API_KEY']?.trim()];
  if (apiKey) return { url: url || DEFAULT_URL, apiKey, source: 'PMS_API_KEY' };
  const profiles = await readProfiles(env);
  const name = profileName(env, profiles);
  const stored = profiles.byName.get(name ?? '');
  if (stored === undefined) throw new CliError(EXIT.usage, whyNoKey(name, [...profiles.byName.keys()]));
  const { file } = profiles;
  // A key goes only to the service that it is of.
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

/** Asks before what can't be undone, where somebody sits. @param yes whether that was answered on the command line @throws CliError */
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
/** Between two failures of the same outage there is less than that. */
const NEW_OUTAGE_MS = 30_000;

/** For how long a service that is away is waited for. @throws CliError */
function retryForMs({ PMS_RETRY_SECONDS: text }: NodeJS.ProcessEnv): number {
  if (!text) return RETRY_SECONDS * 1000;
  if (!/^\d{1,6}$/.test(text))
    throw new CliError(EXIT.usage, `PMS_RETRY_SECONDS is ${text}: use a whole number of seconds, such as 120, or 0.`);
  return Number(text) * 1000;
}

/** Tells once per outage that the service is waited for. */
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

/** A client of the service. @param forMs how long a service that is away is waited for @throws CliError */
export async function connect(context: Context, forMs: number = retryForMs(context.env)): Promise<Pms> {
  const { url, apiKey } = await accessOf(context);
  return clientOf({ baseUrl: url, apiKey, retryForMs: forMs, onRetry: reportOutages(context, url, forMs) });
}

/** @throws CliError if the address or the key cannot be one; it does not show the key */
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

/** Text of others, which must not steer a terminal. */
export function safeText(text: string): string {
  return text.replace(/[\p{Cc}--[\n\t]]/gv, (character) => JSON.stringify(character).slice(1, -1));
}
