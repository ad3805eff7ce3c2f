import { ConnectionError, Pms, type PmsError, ServiceError } from 'pms-client';
import { type Credentials, isReadableByOthers, readCredentials } from './credentials.ts';
import { CliError, EXIT } from './exit.ts';

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
 * Where the service is and with which key: from the environment, else from the last `pms login`.
 * @throws CliError where there is no key
 */
export async function accessOf({ env, stderr }: Context): Promise<Credentials & { source: string }> {
  const { PMS_BASE_URL: url, PMS_API_KEY: apiKey } = env;
  if (apiKey) return { url: url || DEFAULT_URL, apiKey, source: 'PMS_API_KEY' };
  const stored = await readCredentials(env);
  if (stored === undefined)
    throw new CliError(EXIT.usage, 'There is no key: log in with pms login, or set PMS_BASE_URL and PMS_API_KEY.');
  // A key goes only to the service that it is of.
  if (url && url !== stored.url)
    throw new CliError(EXIT.usage, `PMS_BASE_URL is ${url}, but the key of the last pms login is for ${stored.url}.`);
  if (await isReadableByOthers(stored.file))
    printLine(stderr, `Others on this machine may read the key in ${stored.file}: chmod 600 it, and log in anew.`);
  return { ...stored, source: stored.file };
}

const RETRY_SECONDS = 120;
/** Between two failures of the same outage there is less than that. */
const NEW_OUTAGE_MS = 30_000;

/** For how long a service that is away is waited for. @throws CliError */
function retryForMs({ PMS_RETRY_SECONDS: text }: NodeJS.ProcessEnv): number {
  if (!text) return RETRY_SECONDS * 1000;
  if (!/^\d{1,6}$/.test(text))
    throw new CliError(EXIT.usage, `PMS_RETRY_SECONDS is ${text}: give whole seconds, such as 120, or 0.`);
  return Number(text) * 1000;
}

/** Tells once per outage that the service is waited for. */
function tellOfOutages({ stderr }: Context, url: string, forMs: number): (error: PmsError) => void {
  let toldOfAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const isNew = Date.now() - toldOfAt > NEW_OUTAGE_MS;
    toldOfAt = Date.now();
    if (!isNew || !(error instanceof ConnectionError || error instanceof ServiceError)) return;
    printLine(stderr, safeText(`${url} does not respond (${error.message}). It is tried again for ${forMs / 1000} s.`));
  };
}

/** A client of the service. @throws CliError */
export async function connect(context: Context): Promise<Pms> {
  const { url, apiKey } = await accessOf(context);
  const forMs = retryForMs(context.env);
  return new Pms({ baseUrl: url, apiKey, retryForMs: forMs, onRetry: tellOfOutages(context, url, forMs) });
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
