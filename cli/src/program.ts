import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { Context } from './context.ts';

const EXITS = `
Exit status:
  0  passed
  1  a gate failed: a score, a regression, a check of files, a conflict
  2  the command line, a file or the configuration is wrong, or the service refuses the request
  3  the service, or a run, failed
  4  inconclusive: the budget was reached, or a difference is within noise

Environment: PMS_BASE_URL and PMS_API_KEY go before what pms login keeps. A service that does not
respond is tried again for PMS_RETRY_SECONDS (default: 120).`;

/** Commands by the modules that have them. To load them all takes longer than most commands do. */
const MODULES = [
  {
    commands: ['login', 'logout', 'whoami'],
    load: async () => (await import('./commands/access.ts')).addAccessCommands,
  },
  { commands: ['prompts'], load: async () => (await import('./commands/prompts.ts')).addPromptCommands },
  { commands: ['run'], load: async () => (await import('./commands/run.ts')).addRunCommand },
  { commands: ['datasets'], load: async () => (await import('./commands/datasets.ts')).addDatasetCommands },
  { commands: ['eval'], load: async () => (await import('./commands/evaluations.ts')).addEvaluationCommands },
  { commands: ['release'], load: async () => (await import('./commands/releases.ts')).addReleaseCommands },
  { commands: ['scores'], load: async () => (await import('./commands/scores.ts')).addScoreCommands },
  { commands: ['queues'], load: async () => (await import('./commands/queues.ts')).addQueueCommands },
  { commands: ['rules'], load: async () => (await import('./commands/rules.ts')).addRuleCommands },
  { commands: ['monitors'], load: async () => (await import('./commands/monitors.ts')).addMonitorCommands },
  { commands: ['usage'], load: async () => (await import('./commands/usage.ts')).addUsageCommand },
  { commands: ['import', 'export'], load: async () => (await import('./commands/import-export.ts')).addImportCommands },
];

/** @param command the first argument; all commands are there where it is none of them, for help, completion and suggestions */
export async function createProgram(context: Context, command = ''): Promise<Command> {
  const program = new Command('pms')
    .description('The command line of the Prompt Management Service.')
    .version(manifest.version, '-V, --version', 'show the version of pms')
    .addHelpText('after', EXITS)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  const own = MODULES.filter(({ commands }) => commands.includes(command));
  const loaded = await Promise.all((own.length === 0 ? MODULES : own).map(({ load }) => load()));
  for (const addCommands of loaded) addCommands(program, context);
  return program;
}
