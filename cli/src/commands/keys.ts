import { type Command, InvalidArgumentError } from 'commander';
import { type Api, SCOPES } from 'pms-client';
import { type Context, confirm, connect, printJson, printLine, safeText } from '../context.ts';
import { type Columns, printDone, printList } from '../lists.ts';
import { given, wholeNumber } from '../options.ts';

interface CreateOptions {
  scopes: Api.CreateApiKey['scopes'];
  expiresInDays?: number;
  personal?: boolean;
  json?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

const stateOf = ({ revoked_at: revoked, expires_at: end }: Api.ApiKey) => {
  if (revoked !== null) return 'revoked';
  return end !== null && Date.parse(end) <= Date.now() ? 'expired' : 'valid';
};

const COLUMNS: Columns<Api.ApiKey> = {
  key: ({ id }) => id,
  name: ({ name }) => name,
  kind: ({ kind }) => kind,
  state: stateOf,
  scopes: ({ scopes }) => scopes.join(' '),
  expires: ({ expires_at }) => expires_at ?? 'never',
  'last used': ({ last_used_at }) => last_used_at,
};

/** @throws InvalidArgumentError */
function scopesOf(text: string): CreateOptions['scopes'] {
  const scopes = text.split(',').map((each) => each.trim());
  const wrong = scopes.find((each) => !SCOPES.some((scope) => scope === each));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is not a scope. Scopes: ${SCOPES.join(', ')}.`);
  return scopes as CreateOptions['scopes'];
}

const PERSONAL = ['--personal', 'manage your personal keys instead of workspace keys'] as const;

/** `pms keys list|create|revoke`. */
export function addKeyCommands(keys: Command, context: Context): void {
  const { stdout, stderr } = context;

  keys
    .command('list')
    .description('list keys, newest first, without the keys themselves')
    .option(...PERSONAL)
    .option('--json', 'print JSON')
    .action(async ({ personal, json }: { personal?: boolean; json?: boolean }) => {
      const pms = await connect(context);
      const all = await Array.fromAsync(pms.list(personal ? 'listMyApiKeys' : 'listApiKeys'));
      printList(stdout, all, COLUMNS, json);
    });

  keys
    .command('create')
    .description('create a key and print it; it is shown only once')
    .argument('<name>', 'name that says what the key is for')
    .requiredOption('--scopes <scopes>', `comma-separated list of ${SCOPES.join(', ')}`, scopesOf)
    .option('--expires-in-days <number>', 'default: never', wholeNumber)
    .option(...PERSONAL)
    .option('--json', 'print the record, including the key, as JSON')
    .action(async (name: string, { scopes, expiresInDays, personal, json }: CreateOptions) => {
      const end = expiresInDays === undefined ? undefined : new Date(Date.now() + expiresInDays * DAY_MS).toISOString();
      const body = { name, scopes, ...given({ expires_at: end }) };
      const key = await (await connect(context)).call(personal ? 'createMyApiKey' : 'createApiKey', { body });
      if (json) return printJson(stdout, key);
      // Standard output gets only the key, so that a script can capture it.
      printLine(stderr, safeText(`${key.id} "${key.name}" with ${key.scopes.join(', ')}; it is not shown again:`));
      printLine(stdout, safeText(key.key));
    });

  keys
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<id>', 'key_…')
    .option(...PERSONAL)
    .option('-y, --yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(async (id: string, { personal, yes, json }: { personal?: boolean; yes?: boolean; json?: boolean }) => {
      const pms = await connect(context);
      await confirm(context, `Revoke ${id}? What uses it stops working.`, yes);
      const key = await pms.call(personal ? 'revokeMyApiKey' : 'revokeApiKey', { path: { id } });
      printDone(stdout, key ?? {}, json, `${id} is revoked`);
    });
}
