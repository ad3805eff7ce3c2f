import { Pms } from 'pms-client';
import { type Credentials, readCredentials } from './credentials.ts';
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
export async function accessOf({ env }: Context): Promise<Credentials & { source: string }> {
  const { PMS_BASE_URL: url, PMS_API_KEY: apiKey } = env;
  if (apiKey) return { url: url || DEFAULT_URL, apiKey, source: 'PMS_API_KEY' };
  const stored = await readCredentials(env);
  if (stored === undefined)
    throw new CliError(EXIT.usage, 'There is no key: log in with pms login, or set PMS_BASE_URL and PMS_API_KEY.');
  // A key goes only to the service that it is of.
  if (url && url !== stored.url)
    throw new CliError(EXIT.usage, `PMS_BASE_URL is ${url}, but the key of the last pms login is for ${stored.url}.`);
  return { ...stored, source: stored.file };
}

/** A client of the service. @throws CliError */
export async function connect(context: Context): Promise<Pms> {
  const { url, apiKey } = await accessOf(context);
  return new Pms({ baseUrl: url, apiKey });
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
