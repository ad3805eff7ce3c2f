import { createRequire } from 'node:module';
import { Command, Option } from 'commander';
import type { Context } from './context.ts';

// Node.js 20 warns about JSON modules. Resolved through the package's own name because its compiled files are in another
// folder.
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

/** A command as listed in the help. Its module is loaded when it is called, because loading all takes longer than most commands. */
interface Entry {
  description: string;
  alias?: string;
  load: () => Promise<Fill>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  login: {
    description: 'log in to a service and store its address and a key',
    load: async () => (await import('./commands/access.ts')).fillLogin,
  },
  logout: {
    description: 'log out: revoke the key that pms login created and delete it',
    load: async () => (await import('./commands/access.ts')).fillLogout,
  },
  whoami: {
    description: 'show the current service, key and its scopes',
    load: async () => (await import('./commands/access.ts')).fillWhoami,
  },
  profile: {
    description: 'manage logins to several services and workspaces',
    load: async () => (await import('./commands/profiles.ts')).addProfileCommands,
  },
  prompts: {
    description: 'manage prompts and prompt files',
    load: async () => (await import('./commands/prompts.ts')).addPromptCommands,
  },
  run: {
    description: 'run a prompt and print its output',
    load: async () => (await import('./commands/run.ts')).fillRun,
  },
  executions: {
    description: 'manage executions',
    load: async () => (await import('./commands/executions.ts')).addExecutionCommands,
  },
  logs: {
    description: 'show ended executions, and follow new ones',
    load: async () => (await import('./commands/logs.ts')).fillLogs,
  },
  traces: {
    description: 'read traces of agents, follow new ones, and send spans from a file',
    load: async () => (await import('./commands/traces.ts')).addTraceCommands,
  },
  datasets: {
    description: 'upload, download and generate datasets',
    load: async () => (await import('./commands/datasets.ts')).addDatasetCommands,
  },
  eval: {
    description: 'run, watch and compare evaluations, also in CI',
    load: async () => (await import('./commands/evaluations.ts')).addEvaluationCommands,
  },
  schedules: {
    description: 'manage recurring evaluations',
    load: async () => (await import('./commands/schedules.ts')).addScheduleCommands,
  },
  release: {
    description: 'release a version to a label step by step',
    alias: 'releases',
    load: async () => (await import('./commands/releases.ts')).addReleaseCommands,
  },
  improve: {
    description: 'search for a better version of a prompt',
    load: async () => (await import('./commands/improvements.ts')).addImprovementCommands,
  },
  evaluators: {
    description: 'manage saved evaluators',
    load: async () => (await import('./commands/evaluators.ts')).addEvaluatorCommands,
  },
  scores: {
    description: 'manage scores by users, reviewers and evaluators',
    load: async () => (await import('./commands/scores.ts')).addScoreCommands,
  },
  queues: {
    description: 'manage queues of executions for people to score',
    load: async () => (await import('./commands/queues.ts')).addQueueCommands,
  },
  rules: {
    description: 'manage rules that score executions as they complete',
    load: async () => (await import('./commands/rules.ts')).addRuleCommands,
  },
  monitors: {
    description: 'manage monitors that check live runs and alert',
    load: async () => (await import('./commands/monitors.ts')).addMonitorCommands,
  },
  webhooks: {
    description: 'manage webhooks',
    load: async () => (await import('./commands/webhooks.ts')).addWebhookCommands,
  },
  listen: {
    description: 'forward events to a local program, signed like webhooks',
    load: async () => (await import('./commands/listen.ts')).fillListen,
  },
  keys: {
    description: 'API keys',
    load: async () => (await import('./commands/keys.ts')).addKeyCommands,
  },
  usage: {
    description: 'show tokens, cost and latency of executions and evaluations',
    load: async () => (await import('./commands/usage.ts')).fillUsage,
  },
  api: {
    description: 'make any request to the API',
    load: async () => (await import('./commands/api.ts')).fillApi,
  },
  init: {
    description: 'find prompts in source code and propose prompt files',
    load: async () => (await import('./commands/init.ts')).fillInit,
  },
  import: {
    description: 'import prompts, datasets, evaluations and scores from other products or pms export',
    load: async () => (await import('./commands/import-export.ts')).fillImport,
  },
  export: {
    description: 'export the whole workspace to files that pms import pms can read',
    load: async () => (await import('./commands/import-export.ts')).fillExport,
  },
};

const profileOption = () => new Option('--profile <name>', 'use this profile instead of the current one');

/** Allows `--profile` after a command as well. */
function addProfileOption(command: Command): void {
  if (command.commands.length === 0) command.addOption(profileOption().hideHelp());
  for (const each of command.commands) addProfileOption(each);
}

/** Commander only sets them for options that a command has before it is called. */
function setNegatedDefaults(command: Command): void {
  for (const option of command.options)
    if (option.negate) command.setOptionValueWithSource(option.attributeName(), true, 'default');
}

/** An explicitly selected profile takes precedence over a key in the environment. */
function useProfile({ env }: Context, name: string): void {
  env['PMS_PROFILE'] = name;
  delete env['PMS_API_KEY'];
  delete env['PMS_BASE_URL'];
}

/**
 * The program. Help and suggestions use the names and descriptions of its commands; the rest of a command is loaded when it is called.
 * @param args the command line, without the program
 */
export async function createProgram(given: Context, args: readonly string[] = []): Promise<Command> {
  const context = { ...given, env: { ...given.env } };
  const program = new Command('pms')
    .description('The command line of the Prompt Management Service.')
    .version(manifest.version, '-V, --version', 'print the version of pms')
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
  // The help of a command calls no hook.
  if (first === 'help') await Promise.all(program.commands.filter((each) => each.name() === second).map(load));
  if (first === 'complete') await addCompletion(program, load);
  else program.command('complete').description('print a completion script for bash, zsh, fish or powershell');
  return program;
}

/** Completion needs all commands, so all are loaded. */
async function addCompletion(program: Command, load: (command: Command) => Promise<void>): Promise<void> {
  const { default: tab } = await import('@bomb.sh/tab/commander');
  await Promise.all(program.commands.map(load));
  tab(program);
}
