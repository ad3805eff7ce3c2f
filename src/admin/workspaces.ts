import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { publicId } from '../domain/ids.ts';
import { deleteWorkspace } from '../services/workspaces/delete-workspace.ts';
import {
  createWorkspace,
  getWorkspace,
  listWorkspaces,
  setWorkspaceOwner,
  type WorkspaceRow,
} from '../services/workspaces/workspaces.ts';
import { parseEmail, parseName } from './arguments.ts';
import { withDatabase } from './database.ts';
import { AdminError } from './errors.ts';
import { type Result, table } from './output.ts';

/**
 * Asks the user to type the name of a workspace before it is deleted.
 * @throws AdminError for another name, or none
 */
async function confirmName(name: string): Promise<void> {
  process.stderr.write(`This permanently deletes everything in the workspace ${name}. Type its name to continue: `);
  const lines = createInterface({ input: process.stdin });
  const { value: typed } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  if (typed === name) return;
  throw new AdminError('Nothing was deleted: the name does not match. Type it, or pass --yes.');
}

const HEAD = ['NAME', 'ID', 'OWNER', 'CREATED'];

function present(workspace: WorkspaceRow) {
  return {
    id: publicId('workspace', workspace.id),
    name: workspace.name,
    owner_email: workspace.owner_email,
    created_at: workspace.created_at.toISOString(),
  };
}

/** Adds `workspace create|list|set-owner|delete`. */
export function addWorkspaceCommands(program: Command, show: (result: Result) => void): void {
  const workspace = program.command('workspace').description('create, list, change and delete workspaces');

  workspace
    .command('create')
    .description('create a workspace')
    .argument('<name>', 'its name', parseName)
    .requiredOption('--owner <email>', 'who is notified when something needs attention', parseEmail)
    .action(async (name: string, { owner }: { owner: string }) => {
      const created = present(await withDatabase((db) => createWorkspace(db.system, name, owner)));
      show({
        json: created,
        text: `Created the workspace ${created.name} (${created.id}), owned by ${created.owner_email}.`,
      });
    });

  workspace
    .command('list')
    .description('list all workspaces')
    .action(async () => {
      const data = (await withDatabase((db) => listWorkspaces(db.system))).map(present);
      const rows = data.map(({ name, id, owner_email: owner, created_at: createdAt }) => [name, id, owner, createdAt]);
      show({ json: { data }, text: table(HEAD, rows, 'There is no workspace yet.') });
    });

  workspace
    .command('set-owner')
    .description('change the owner')
    .argument('<name>', 'the workspace', parseName)
    .argument('<email>', 'who is notified when something needs attention', parseEmail)
    .action(async (name: string, email: string) => {
      const changed = present(await withDatabase((db) => setWorkspaceOwner(db.system, name, email)));
      show({ json: changed, text: `The workspace ${changed.name} is now owned by ${changed.owner_email}.` });
    });

  workspace
    .command('delete')
    .description('delete a workspace and everything in it: its keys stop working immediately, workers remove the rest')
    .argument('<name>', 'the workspace', parseName)
    .option('--yes', 'skip the confirmation of the name')
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const { keys, ...row } = await withDatabase(async (db) => {
        await getWorkspace(db.system, name);
        if (yes !== true) await confirmName(name);
        return deleteWorkspace(db.system, name);
      });
      const gone = present(row);
      show({
        json: { ...gone, keys },
        text: `Deleted the workspace ${gone.name} (${gone.id}). Its ${keys} keys are refused from now on; workers remove the rest.`,
      });
    });
}
