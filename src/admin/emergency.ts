import type { Command } from 'commander';
import { publicId } from '../domain/ids.ts';
import { createEmergencyKey } from '../services/access/emergency-key.ts';
import { getWorkspace } from '../services/workspaces/workspaces.ts';
import { parseMinutes, parseName, parseReason } from './arguments.ts';
import { withDatabase } from './database.ts';
import type { Result } from './output.ts';

/** Adds `emergency-key`. */
export function addEmergencyCommand(program: Command, show: (result: Result) => void): void {
  program
    .command('emergency-key')
    .description(
      'create a key for signing in to the console while the identity provider is down; notifies the workspace owner',
    )
    .requiredOption('--workspace <name>', 'the workspace', parseName)
    .requiredOption('--reason <text>', 'reason, kept in the audit log and sent to the owner', parseReason)
    .option('--minutes <number>', 'validity in minutes, up to 1440', parseMinutes, 60)
    .action(async (options: { workspace: string; reason: string; minutes: number }) => {
      const { key, text } = await withDatabase(async (db) => {
        const workspace = await getWorkspace(db.system, options.workspace);
        return createEmergencyKey(db.workspace(workspace.id), options);
      });
      const id = publicId('apiKey', key.id);
      const expiresAt = key.expires_at?.toISOString() ?? '';
      show({
        json: { id, key: text, workspace: options.workspace, expires_at: expiresAt },
        text: `Created the emergency key ${id} for the workspace ${options.workspace}, with all scopes, valid until ${expiresAt}.\n\n  ${text}\n\nSign in with it at /console/sign-in?by=key, and revoke it when you are done: npm run --silent admin -- key revoke ${id}`,
      });
    });
}
