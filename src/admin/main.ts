import process from 'node:process';
import { Command, CommanderError } from 'commander';
import { addBackupCommand } from './backup.ts';
import { addEmergencyCommand } from './emergency.ts';
import { sentenceOf } from './errors.ts';
import { addKeyCommands } from './keys.ts';
import { print } from './output.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addWorkspaceCommands } from './workspaces.ts';

/** The command line for workspaces and keys. */
function createProgram(): Command {
  const program = new Command('npm run --silent admin --')
    .description('Workspaces and API keys of the Prompt Management Service. It takes the same settings as the API.')
    .option('--json', 'print one JSON object')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const show: Parameters<typeof addKeyCommands>[1] = (result) => print(result, program.opts()['json'] === true);
  addWorkspaceCommands(program, show);
  addKeyCommands(program, show);
  addEmergencyCommand(program, show);
  addReconcileCommand(program, show);
  addBackupCommand(program, show);
  return program;
}

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already printed the error.
    process.exitCode = error.exitCode;
  } else {
    process.stderr.write(`error: ${sentenceOf(error)}\n`);
    process.exitCode = 1;
  }
}
