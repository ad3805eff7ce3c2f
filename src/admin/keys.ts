import type { Command } from 'commander';
import { publicId } from '../domain/ids.ts';
import {
  allApiKeys,
  createApiKey,
  findKey,
  generateApiKey,
  revokeApiKey,
  SCOPES,
  type Scope,
} from '../services/access/api-keys.ts';
import { presentApiKey } from '../services/access/present-api-key.ts';
import { getWorkspace } from '../services/workspaces/workspaces.ts';
import { parseExpiry, parseName, parseScopes } from './arguments.ts';
import { withDatabase } from './database.ts';
import { type Result, table } from './output.ts';

const HEAD = ['ID', 'NAME', 'SCOPES', 'STATE', 'LAST USED'];

function stateOf({ expires_at: expires, revoked_at: revoked }: ReturnType<typeof presentApiKey>): string {
  if (revoked !== null) return `revoked ${revoked}`;
  if (expires === null) return 'valid';
  return Date.parse(expires) > Date.now() ? `valid until ${expires}` : `expired ${expires}`;
}

/** Adds `key create|list|revoke`. */
export function addKeyCommands(program: Command, show: (result: Result) => void): void {
  const key = program.command('key').description('create, list and revoke API keys');

  key
    .command('create')
    .description('create a key; it is shown only once')
    .requiredOption('--workspace <name>', 'its workspace', parseName)
    .requiredOption('--name <name>', 'name that says what the key is for', parseName)
    .requiredOption('--scopes <list>', `its scopes, separated by commas: ${SCOPES.join(', ')}`, parseScopes)
    .option('--expires <time>', 'when it expires, e.g. 2027-01-31T12:00:00Z (default: never)', parseExpiry)
    .action(async (options: { workspace: string; name: string; scopes: Scope[]; expires?: Date }) => {
      const { name, scopes, expires: expiresAt = null } = options;
      const text = generateApiKey();
      const { id } = await withDatabase(async (db) => {
        const workspace = await getWorkspace(db.system, options.workspace);
        return db
          .workspace(workspace.id)
          .transaction((query) => createApiKey(query, text, { name, scopes, expiresAt }));
      });
      show({
        json: { id: publicId('apiKey', id), key: text, workspace: options.workspace, scopes },
        text: `Created the key ${publicId('apiKey', id)} for the workspace ${options.workspace}: ${scopes.join(', ')}.\n\n  ${text}\n\nSave it now: it is not stored and not shown again.`,
      });
    });

  key
    .command('list')
    .description('list the keys of a workspace, newest first')
    .requiredOption('--workspace <name>', 'the workspace', parseName)
    .action(async ({ workspace: name }: { workspace: string }) => {
      const keys = await withDatabase(async (db) => {
        const workspace = await getWorkspace(db.system, name);
        return allApiKeys(db.workspace(workspace.id));
      });
      const data = keys.map(presentApiKey);
      const rows = data.map((row) => [
        row.id,
        row.name,
        row.scopes.join(','),
        stateOf(row),
        row.last_used_at ?? 'never',
      ]);
      show({ json: { data }, text: table(HEAD, rows, `The workspace ${name} has no key yet.`) });
    });

  key
    .command('revoke')
    .description('revoke a key; every process rejects it immediately')
    .argument('<id>', 'key_…, as listed')
    .action(async (id: string) => {
      const revoked = await withDatabase(async (db) => {
        const found = await findKey(db.system, id);
        return presentApiKey((await revokeApiKey(db.workspace(found.workspaceId), found.id)).key);
      });
      show({ json: revoked, text: `Revoked the key ${revoked.id} (${revoked.name}).` });
    });
}
