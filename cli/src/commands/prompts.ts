import type { Command } from 'commander';
import { type Context, connect, printJson, printLine } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { wholeNumber } from '../options.ts';
import { OVERRIDE, overrideOf } from '../override.ts';
import { formatRecord } from '../prompt-files/remote-prompts.ts';
import { formatTable } from '../table.ts';
import { addPromptFileCommands } from './prompt-files.ts';

interface Selected {
  label?: string;
  version?: number;
  json?: boolean;
}

interface Listed {
  group?: string;
  label?: string;
  q?: string;
  includes?: string;
  archived?: boolean;
  json?: boolean;
}

const selectorOf = ({ label, version }: Selected) => {
  if (label !== undefined && version !== undefined)
    throw new CliError(EXIT.usage, 'Give either --label or --version, not both.');
  return { ...(label !== undefined && { label }), ...(version !== undefined && { version }) };
};

/** `pms prompts …`. */
export function addPromptCommands(prompts: Command, context: Context): void {
  const { stdout } = context;

  prompts
    .command('list')
    .description('list prompts')
    .option('--group <name>', 'only prompts whose name starts with this and a "/"')
    .option('--label <label>', 'only prompts with this label')
    .option('-q <text>', 'only prompts with this text in their name or description')
    .option('--includes <name>', 'only prompts whose latest or labelled versions include this prompt')
    .option('--archived', 'only archived prompts')
    .option('--json', 'print JSON')
    .action(async ({ group, label, q, includes, archived, json }: Listed) => {
      const pms = await connect(context);
      const query = {
        limit: 1000,
        archived: archived ? ('true' as const) : ('false' as const),
        ...(group !== undefined && { group }),
        ...(label !== undefined && { label }),
        ...(q !== undefined && { q }),
        ...(includes !== undefined && { includes }),
      };
      const found = await Array.fromAsync(pms.list('listPrompts', { query }));
      if (json) return printJson(stdout, found);
      const rows = found.map(({ name, version, all_labels, model, updated_at }) => [
        name,
        version,
        all_labels.map(({ label, version: at }) => (at === version ? label : `${label}@${at}`)).join(' '),
        model,
        updated_at,
      ]);
      printLine(stdout, formatTable(['name', 'version', 'labels', 'model', 'updated'], rows));
    });

  prompts
    .command('get')
    .description('print a prompt in the prompt file format')
    .argument('<name>')
    .option('--label <label>', 'show the version with this label')
    .option('--version <number>', 'version to show', wholeNumber)
    .option('--json', 'print the API response as JSON')
    .action(async (name: string, options: Selected) => {
      const pms = await connect(context);
      const prompt = await pms.call('getPrompt', { path: { name }, query: selectorOf(options) });
      if (options.json) printJson(stdout, prompt);
      else stdout.write(formatRecord(prompt));
    });

  prompts
    .command('promote')
    .description('point a label at a version')
    .argument('<name>')
    .requiredOption('--to <label>', 'label to move')
    .option('--label <label>', 'move to the version with this label')
    .option('--version <number>', 'move to this version (default: the latest)', wholeNumber)
    .option(...OVERRIDE)
    .action(async (name: string, { to, override, ...options }: Selected & { to: string; override?: string }) => {
      const pms = await connect(context);
      const { version } = await pms.call('getPrompt', { path: { name }, query: selectorOf(options) });
      await pms.call('setPromptLabel', { path: { name, label: to }, body: { version, ...overrideOf(override) } });
      printLine(stdout, `${name}: ${to} is version ${version}`);
    });

  addPromptFileCommands(prompts, context);
}
