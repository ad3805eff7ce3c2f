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
import { confirmName } from './confirm.ts';
import { withDatabase } from './database.ts';
import { type Result, table } from './output.ts';

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
  const workspace = program.command('workspace').description('make workspaces and look at them');

  workspace
    .command('create')
    .description('make a workspace')
    .argument('<name>', 'its name', parseName)
    .requiredOption('--owner <email>', 'who is told when something needs a person', parseEmail)
    .action(async (name: string, { owner }: { owner: string }) => {
      const made = present(await withDatabase((db) => createWorkspace(db.system, name, owner)));
      show({ json: made, text: `Made the workspace ${made.name} (${made.id}), owned by ${made.owner_email}.` });
    });

  workspace
    .command('list')
    .description('list all workspaces')
    .action(async () => {
      const data = (await withDatabase((db) => listWorkspaces(db.system))).map(present);
      const rows = data.map(({ name, id, owner_email: owner, created_at: created }) => [name, id, owner, created]);
      show({ json: { data }, text: table(HEAD, rows, 'There is no workspace yet.') });
    });

  workspace
    .command('set-owner')
    .description('name another owner')
    .argument('<name>', 'the workspace', parseName)
    .argument('<email>', 'who is told when something needs a person', parseEmail)
    .action(async (name: string, email: string) => {
      const changed = present(await withDatabase((db) => setWorkspaceOwner(db.system, name, email)));
      show({ json: changed, text: `The workspace ${changed.name} is now owned by ${changed.owner_email}.` });
    });

  workspace
    .command('delete')
    .description(
      'delete a workspace with everything in it: its keys are refused at once, the rest is removed by the workers',
    )
    .argument('<name>', 'the workspace', parseName)
    .option('--yes', 'do not ask for the name again')
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const { keys, ...row } = await withDatabase(async (db) => {
        await getWorkspace(db.system, name);
        if (yes !== true) await confirmName(name);
        return deleteWorkspace(db.system, name);
      });
      const gone = present(row);
      show({
        json: { ...gone, keys },
        text: `Deleted the workspace ${gone.name} (${gone.id}). Its ${keys} keys are refused from now on; workers remove what it had.`,
      });
    });
}
