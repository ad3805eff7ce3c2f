import { Argument, type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { SOURCES } from '../importers/import-source.ts';
import type { ExportOptions, ImportOptions } from '../importers/run.ts';

/** Loaded only when needed: its many modules take longer to load than showing help. */
const run = () => import('../importers/run.ts');

/** `pms import`. */
export function fillImport(command: Command, context: Context): void {
  command
    .addArgument(new Argument('<source>', 'product to import from').choices(SOURCES))
    .argument('<location>', 'file or folder; for langfuse, also the address of its API')
    .option('--dry-run', 'only show what would be created')
    .option('--model <model>', 'model for prompts and scored runs without a model')
    .option('--all-models', 'promptfoo: create prompts for every provider, not only the first')
    .option('--judge <model>', 'promptfoo: grading model if the configuration does not name one')
    .option('--embeddings <model>', 'promptfoo: embedding model if the configuration does not name one')
    .option(
      '--scorer-project <folder>',
      'promptfoo: folder for a generated scorer that runs JavaScript and Python asserts',
    )
    .option('--scorer-url <url>', 'promptfoo: address at which the scorer will run')
    .option('--evaluations <folder>', 'folder for evaluation files, for pms eval run', 'evaluations')
    .option('--json', 'print JSON')
    .action(async (source: string, location: string, options: ImportOptions) =>
      (await run()).runImport(source, location, options, context),
    );
}

/** `pms export`. */
export function fillExport(command: Command, context: Context): void {
  command
    .argument('<folder>', 'folder to write to; it must be new or empty')
    .addOption(
      new Option('--format <format>', 'pms: everything; github: the latest versions as .prompt.yml')
        .choices(['pms', 'github'])
        .default('pms'),
    )
    .option(
      '--evaluations <folder>',
      'with --format github: folder of evaluation files to export evaluators from',
      'evaluations',
    )
    .action(async (folder: string, options: ExportOptions) => (await run()).runExport(folder, options, context));
}
