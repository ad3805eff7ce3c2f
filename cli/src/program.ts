import { createRequire } from 'node:module';
import { Command, Option } from 'commander';
import type { Context } from './context.ts';

// Node.js 20 warns of modules that are JSON. From the package's own name, since its compiled files are in another folder.
const manifest: { version: string } = createRequire(import.meta.url)('pms-cli/package.json');

const EXITS = `
Exit status:
  0  passed
  1  a gate failed: a score, a regression, a check of files, a conflict
  2  the command line, a file or the configuration is wrong, or the service refuses the request
  3  the service, or a run, failed
  4  inconclusive: the budget was reached, or a difference is within noise

Environment: PMS_BASE_URL and PMS_API_KEY go before what pms login keeps; PMS_PROFILE names what of it is
used. A service that does not respond is tried again for PMS_RETRY_SECONDS (default: 120).`;

/** Gives a command its options and subcommands. */
type Fill = (command: Command, context: Context) => void;

/** A command by what the help says of it. Its module is loaded when it is called: all of them take longer than most commands do. */
interface Entry {
  description: string;
  alias?: string;
  load: () => Promise<Fill>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  login: {
    description: 'keep the address and a key of the service for this user',
    load: async () => (await import('./commands/access.ts')).fillLogin,
  },
  logout: {
    description: 'revoke the key that pms login had made for this user, and forget it',
    load: async () => (await import('./commands/access.ts')).fillLogout,
  },
  whoami: {
    description: 'show which service and which key are used, and what the key may do',
    load: async () => (await import('./commands/access.ts')).fillWhoami,
  },
  profile: {
    description: 'logins to several services and workspaces, by name',
    load: async () => (await import('./commands/profiles.ts')).addProfileCommands,
  },
  prompts: {
    description: 'prompts, and prompts as files of a repository',
    load: async () => (await import('./commands/prompts.ts')).addPromptCommands,
  },
  run: {
    description: 'run a prompt and print its output',
    load: async () => (await import('./commands/run.ts')).fillRun,
  },
  executions: {
    description: 'runs of prompts',
    load: async () => (await import('./commands/executions.ts')).addExecutionCommands,
  },
  logs: {
    description: 'show how executions ended, and follow those that end from now on',
    load: async () => (await import('./commands/logs.ts')).fillLogs,
  },
  datasets: {
    description: 'datasets as files',
    load: async () => (await import('./commands/datasets.ts')).addDatasetCommands,
  },
  eval: {
    description: 'evaluations, for terminals and CI',
    load: async () => (await import('./commands/evaluations.ts')).addEvaluationCommands,
  },
  schedules: {
    description: 'evaluations that run again and again',
    load: async () => (await import('./commands/schedules.ts')).addScheduleCommands,
  },
  release: {
    description: 'bring a version to a label, step by step',
    alias: 'releases',
    load: async () => (await import('./commands/releases.ts')).addReleaseCommands,
  },
  scores: {
    description: 'what users, people and evaluators say of executions',
    load: async () => (await import('./commands/scores.ts')).addScoreCommands,
  },
  queues: {
    description: 'executions that people score one after the other',
    load: async () => (await import('./commands/queues.ts')).addQueueCommands,
  },
  rules: {
    description: 'evaluators that score executions as they complete',
    load: async () => (await import('./commands/rules.ts')).addRuleCommands,
  },
  monitors: {
    description: 'standing checks of what runs, which alert',
    load: async () => (await import('./commands/monitors.ts')).addMonitorCommands,
  },
  webhooks: {
    description: 'addresses that are called when something happens',
    load: async () => (await import('./commands/webhooks.ts')).addWebhookCommands,
  },
  listen: {
    description: 'bring events to a program on this machine, signed as webhooks are',
    load: async () => (await import('./commands/listen.ts')).fillListen,
  },
  keys: {
    description: 'API keys',
    load: async () => (await import('./commands/keys.ts')).addKeyCommands,
  },
  usage: {
    description: 'tokens, cost and latency of executions and evaluations',
    load: async () => (await import('./commands/usage.ts')).fillUsage,
  },
  api: {
    description: 'make any request to the API',
    load: async () => (await import('./commands/api.ts')).fillApi,
  },
  init: {
    description: 'find prompts in source code, and propose files of them',
    load: async () => (await import('./commands/init.ts')).fillInit,
  },
  import: {
    description: 'take over prompts, datasets, evaluations and scores from elsewhere, or from pms export',
    load: async () => (await import('./commands/import-export.ts')).fillImport,
  },
  export: {
    description: 'write all of the workspace into files, which pms import pms takes again',
    load: async () => (await import('./commands/import-export.ts')).fillExport,
  },
};

const profileOption = () => new Option('--profile <name>', 'use this login in place of the current one');

/** Lets `--profile` stand behind a command as well. */
function addProfileOption(command: Command): void {
  if (command.commands.length === 0) command.addOption(profileOption().hideHelp());
  for (const each of command.commands) addProfileOption(each);
}

/** Commander has set them already for the options that a command had before it was called. */
function setNegatedDefaults(command: Command): void {
  for (const option of command.options)
    if (option.negate) command.setOptionValueWithSource(option.attributeName(), true, 'default');
}

/** The profile of an option goes before a key of the environment. */
function useProfile({ env }: Context, name: string): void {
  env['PMS_PROFILE'] = name;
  delete env['PMS_API_KEY'];
  delete env['PMS_BASE_URL'];
}

/**
 * The program. Of its commands, help and suggestions know the names and descriptions; the rest of a command is loaded when it is called.
 * @param args the command line, without the program
 */
export async function createProgram(given: Context, args: readonly string[] = []): Promise<Command> {
  const context = { ...given, env: { ...given.env } };
  const program = new Command('pms')
    .description('The command line of the Prompt Management Service.')
    .version(manifest.version, '-V, --version', 'show the version of pms')
    .addOption(profileOption())
    .addHelpText('after', EXITS)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  for (const [name, { description, alias }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(description);
    if (alias !== undefined) command.alias(alias);
  }
  const load = async (command: Command) => {
    const fill = await COMMANDS[command.name()]?.load();
    fill?.(command, context);
    addProfileOption(command);
    setNegatedDefaults(command);
  };
  program.hook('preSubcommand', (_, command) => load(command));
  program.hook('preAction', (_, command) => {
    const { profile } = command.optsWithGlobals<{ profile?: string }>();
    if (profile !== undefined) useProfile(context, profile);
  });
  const [first, second] = args;
  // Help of a command calls no hook.
  if (first === 'help') await Promise.all(program.commands.filter((each) => each.name() === second).map(load));
  if (first === 'complete') await addCompletion(program, load);
  else program.command('complete').description('print what completes commands in a shell: bash, zsh, fish, powershell');
  return program;
}

/** Completion knows all commands, so that all are loaded. */
async function addCompletion(program: Command, load: (command: Command) => Promise<void>): Promise<void> {
  const { default: tab } = await import('@bomb.sh/tab/commander');
  await Promise.all(program.commands.map(load));
  tab(program);
}
