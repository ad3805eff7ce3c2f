import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { type Api, Pms, UnauthorizedError } from 'pms-client';
import { accessOf, type Context, DEFAULT_URL, printJson, printLine } from '../context.ts';
import { writeCredentials } from '../credentials.ts';
import { CliError, EXIT } from '../exit.ts';
import { formatTable } from '../table.ts';

/** Enough of a key to tell it from others. */
const shown = (key: string) => `${key.slice(0, 8)}…`;

/** What the service knows of a key. @throws UnauthorizedError, ConnectionError */
function readKeyRecord(url: string, apiKey: string): Promise<Api.CurrentApiKey> {
  return new Pms({ baseUrl: url, apiKey, maxRetries: 0 }).call('getCurrentApiKey', {});
}

async function readKey({ stdin, stderr }: Context): Promise<string> {
  if (stdin.isTTY) stderr.write('API key: ');
  const lines = createInterface({ input: stdin });
  try {
    for await (const line of lines) return line.trim();
  } finally {
    lines.close();
  }
  return '';
}

function checkUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new CliError(EXIT.usage, `${url} is no address of a service: give one such as ${DEFAULT_URL}.`);
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** `pms login`, `pms whoami`. */
export function addAccessCommands(program: Command, context: Context): void {
  program
    .command('login')
    .description('keep the address and a key of the service for this user')
    .option('--url <address>', 'of the service', context.env['PMS_BASE_URL'] || DEFAULT_URL)
    .addHelpText('after', '\nThe key is read from standard input: pms login < .data/first-api-key')
    .action(async (options: { url: string }) => {
      const url = checkUrl(options.url);
      const apiKey = await readKey(context);
      if (apiKey === '') throw new CliError(EXIT.usage, 'No key was given: type it, or pass it on standard input.');
      try {
        await readKeyRecord(url, apiKey);
      } catch (error) {
        if (error instanceof UnauthorizedError)
          throw new CliError(EXIT.usage, `${url} refuses the key: ${error.message}`);
        throw error;
      }
      const file = await writeCredentials(context.env, { url, apiKey });
      printLine(context.stdout, `Logged in to ${url}. The key is in ${file}.`);
    });

  program
    .command('whoami')
    .description('show which service and which key are used, and what the key may do')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { url, apiKey, source } = await accessOf(context);
      const { id, name, scopes, expires_at, workspace } = await readKeyRecord(url, apiKey);
      if (json)
        return printJson(context.stdout, { url, key: shown(apiKey), source, id, name, workspace, scopes, expires_at });
      printLine(context.stdout, `${url} with the key ${shown(apiKey)} from ${source}: valid`);
      const row = [name, workspace.name, scopes.join(' '), expires_at ?? 'never'];
      printLine(context.stdout, formatTable(['name', 'workspace', 'scopes', 'expires'], [row]));
    });
}
