import type { Command } from 'commander';
import { publicId } from '../domain/ids.ts';
import { createWorkspace, listWorkspaces, setWorkspaceOwner, type WorkspaceRow } from '../services/workspaces.ts';
import { parseEmail, parseName } from './arguments.ts';
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

/** Adds `workspace create|list|set-owner`. */
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
}
