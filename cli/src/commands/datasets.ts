import { createWriteStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { type Context, connect, printJson, printLine } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { wholeNumber } from '../options.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.jsonl': 'application/x-ndjson',
  '.ndjson': 'application/x-ndjson',
};
const MAX_BYTES = 256 * 1024 * 1024;
/** The service answers once it has stored all examples. */
const UPLOAD_TIMEOUT_MS = 30 * 60_000;

/** `pms datasets push|pull`. */
export function addDatasetCommands(program: Command, context: Context): void {
  const datasets = program.command('datasets').description('datasets as files');

  datasets
    .command('push')
    .description('upload a file as the next version of a dataset')
    .argument('<name>', 'of the dataset')
    .argument('<file>', 'JSON Lines (.jsonl, .ndjson) or CSV (.csv)')
    .option('--description <text>', 'what the dataset is for')
    .option('--json', 'as JSON')
    .action(async (name: string, file: string, { description, json }: { description?: string; json?: boolean }) => {
      const contentType = CONTENT_TYPES[path.extname(file).toLowerCase()];
      if (contentType === undefined)
        throw new CliError(EXIT.usage, `${file}: must be .jsonl, .ndjson or .csv, which say what is in it`);
      const { size } = await stat(file);
      if (size > MAX_BYTES)
        throw new CliError(EXIT.usage, `${file}: has ${size} bytes, and the service takes ${MAX_BYTES}: split it`);
      const pms = await connect(context);
      const body = await openAsBlob(file, { type: contentType });
      const query = description === undefined ? {} : { description };
      const dataset = await pms.upload('uploadDataset', { path: { name }, query, body }, contentType, {
        timeoutMs: UPLOAD_TIMEOUT_MS,
      });
      if (json) printJson(context.stdout, dataset);
      else printLine(context.stdout, `${dataset.name}: version ${dataset.version}, ${dataset.examples_total} examples`);
    });

  datasets
    .command('pull')
    .description('download a dataset')
    .argument('<name>', 'of the dataset')
    .option('--version <number>', 'this version; default: the latest', wholeNumber)
    .addOption(new Option('--format <format>').choices(['jsonl', 'csv']).default('jsonl'))
    .option('--out <file>', 'default: standard output')
    .action(async (name: string, options: { version?: number; format: 'jsonl' | 'csv'; out?: string }) => {
      const pms = await connect(context);
      const { version, format, out } = options;
      const body = await pms.download('exportDataset', {
        path: { name },
        query: { format, ...(version !== undefined && { version }) },
      });
      if (out === undefined) await pipeline(Readable.from(body), context.stdout, { end: false });
      else await pipeline(Readable.from(body), createWriteStream(out));
    });
}
