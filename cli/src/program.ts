import { Command } from 'commander';
import { addAccessCommands } from './commands/access.ts';
import { addDatasetCommands } from './commands/datasets.ts';
import { addEvaluationCommands } from './commands/evaluations.ts';
import { addImportCommands } from './commands/import-export.ts';
import { addPromptCommands } from './commands/prompts.ts';
import { addRunCommand } from './commands/run.ts';
import { addUsageCommand } from './commands/usage.ts';
import type { Context } from './context.ts';

const EXITS = `
Exit status:
  0  passed
  1  a gate failed: a score, a regression, a check of files, a conflict
  2  the command line, a file or the configuration is wrong, or the service refuses the request
  3  the service, or a run, failed
  4  inconclusive: the budget was reached, or a difference is within noise

Environment: PMS_BASE_URL and PMS_API_KEY go before what pms login keeps.`;

/** All commands. */
export function createProgram(context: Context): Command {
  const program = new Command('pms')
    .description('The command line of the Prompt Management Service.')
    .addHelpText('after', EXITS)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  addAccessCommands(program, context);
  addPromptCommands(program, context);
  addRunCommand(program, context);
  addDatasetCommands(program, context);
  addEvaluationCommands(program, context);
  addUsageCommand(program, context);
  addImportCommands(program, context);
  return program;
}
