import { createWriteStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Presets, SingleBar } from 'cli-progress';
import { type Command, Option } from 'commander';
import { type Api, ConnectionError, type Pms } from 'pms-client';
import { type Context, connect, printJson, printLine } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { decimal, wholeNumber } from '../options.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.jsonl': 'application/x-ndjson',
  '.ndjson': 'application/x-ndjson',
};
const MAX_BYTES = 256 * 1024 * 1024;
/** The service responds only after it has stored all examples. */
const UPLOAD_TIMEOUT_MS = 30 * 60_000;

/** A body that reports how much of it has been read, which approximates how much was sent. */
class WatchedBlob extends Blob {
  readonly #onRead: (bytes: number) => void;

  constructor(blob: Blob, onRead: (bytes: number) => void) {
    super([blob], { type: blob.type });
    this.#onRead = onRead;
  }

  override stream(): ReturnType<Blob['stream']> {
    const onRead = this.#onRead;
    let read = 0;
    const watch = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        read += chunk.byteLength;
        onRead(read);
        controller.enqueue(chunk);
      },
    });
    return super.stream().pipeThrough(watch);
  }
}

const inMib = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);

/**
 * Uploads a file in a stream, with a progress bar on a terminal.
 * @throws CliError if the connection breaks
 */
async function upload(
  pms: Pms,
  request: { path: { name: string }; query: { description?: string; mode?: 'add' } },
  file: string,
  contentType: string,
  { stderr }: Context,
): Promise<Api.DatasetChange> {
  const blob = await openAsBlob(file, { type: contentType });
  const format = '{bar} {sent} of {size} MiB';
  const bar = stderr.isTTY
    ? new SingleBar({ stream: stderr, format, clearOnComplete: true, hideCursor: true }, Presets.shades_classic)
    : undefined;
  const shown = (bytes: number) => ({ sent: inMib(bytes), size: inMib(blob.size) });
  let sent = 0;
  const body = new WatchedBlob(blob, (bytes) => {
    sent = bytes;
    bar?.update(sent, shown(sent));
  });
  bar?.start(blob.size, 0, shown(0));
  try {
    return await pms.upload('uploadDataset', { ...request, body }, contentType, { timeoutMs: UPLOAD_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    const what =
      sent < blob.size
        ? `after ${inMib(sent)} of ${inMib(blob.size)} MiB, and nothing was stored: push it again`
        : 'before the service responded: run pms datasets pull to see whether it was stored';
    throw new CliError(EXIT.service, `${file}: the connection was lost ${what}. ${error.message}`, { cause: error });
  } finally {
    bar?.stop();
  }
}

interface SendOptions {
  description?: string;
  json?: boolean;
  mode?: 'add';
}

/** Uploads a file whose format follows from its name. @throws CliError */
async function send(
  context: Context,
  name: string,
  file: string,
  { description, mode }: SendOptions,
): Promise<Api.DatasetChange> {
  const contentType = CONTENT_TYPES[path.extname(file).toLowerCase()];
  if (contentType === undefined)
    throw new CliError(EXIT.usage, `${file}: must be .jsonl, .ndjson, .csv or .tsv, which say what is in it`);
  const { size } = await stat(file);
  if (size > MAX_BYTES)
    throw new CliError(EXIT.usage, `${file}: ${size} bytes exceed the limit of ${MAX_BYTES}: split the file`);
  const pms = await connect(context);
  const query = { ...(description !== undefined && { description }), ...(mode && { mode }) };
  return upload(pms, { path: { name }, query }, file, contentType, context);
}

const FILE = 'JSON Lines (.jsonl, .ndjson) or CSV (.csv, .tsv)';

interface GenerateOptions {
  prompt: string;
  model: string;
  count?: number;
  instructions?: string;
  maxCost?: number;
  add?: boolean;
  json?: boolean;
}

function printChange({ stdout }: Context, dataset: Api.DatasetChange, isJson = false): void {
  const { name, version, examples_total: total, added = 0, replaced = 0, unchanged = 0 } = dataset;
  if (isJson) printJson(stdout, dataset);
  else if (added + replaced === 0)
    printLine(stdout, `${name}: nothing to add, version ${version} has these examples already`);
  else
    printLine(
      stdout,
      `${name}: version ${version}, ${total} examples (${added} added, ${replaced} replaced, ${unchanged} unchanged)`,
    );
}

async function generate(context: Context, name: string, options: GenerateOptions): Promise<void> {
  const { prompt, model, count, instructions, maxCost, add, json } = options;
  const pms = await connect(context);
  const body = {
    prompt_name: prompt,
    model,
    ...(count !== undefined && { count }),
    ...(instructions !== undefined && { instructions }),
    ...(maxCost !== undefined && { max_cost: maxCost }),
  };
  const found = await pms.call('generateDatasetExamples', { path: { name }, body });
  const { examples, dropped, status, execution_id: execution } = found;
  if (examples.length === 0)
    throw new CliError(
      EXIT.failed,
      `no example: the call ${execution} is ${status}, with ${dropped.invalid} invalid inputs and ${dropped.duplicate} duplicates`,
    );
  if (add) printChange(context, await pms.call('addDatasetExamples', { path: { name }, body: { examples } }), json);
  else if (json) printJson(context.stdout, found);
  else for (const example of examples) printLine(context.stdout, JSON.stringify(example));
}

/** `pms datasets push|add|pull|generate|from-scores`. */
export function addDatasetCommands(datasets: Command, context: Context): void {
  datasets
    .command('push')
    .description('upload a file as the next version of a dataset')
    .argument('<name>', 'name of the dataset')
    .argument('<file>', FILE)
    .option('--description <text>', 'what the dataset is for')
    .option('--json', 'print JSON')
    .action(async (name: string, file: string, options: SendOptions) => {
      const dataset = await send(context, name, file, options);
      if (options.json) printJson(context.stdout, dataset);
      else printLine(context.stdout, `${dataset.name}: version ${dataset.version}, ${dataset.examples_total} examples`);
    });

  datasets
    .command('add')
    .description('add the examples of a file to a dataset; one with an existing id replaces that example')
    .argument('<name>', 'name of the dataset')
    .argument('<file>', FILE)
    .option('--json', 'print JSON')
    .action(async (name: string, file: string, options: SendOptions) => {
      const dataset = await send(context, name, file, { ...options, mode: 'add' });
      printChange(context, dataset, options.json);
    });

  datasets
    .command('pull')
    .description('download a dataset')
    .argument('<name>', 'name of the dataset')
    .option('--version <number>', 'version to download (default: the latest)', wholeNumber)
    .addOption(new Option('--format <format>').choices(['jsonl', 'csv']).default('jsonl'))
    .option('--out <file>', 'write to this file (default: standard output)')
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

  datasets
    .command('generate')
    .description('print inputs that a model writes for a prompt, as JSON Lines, without those of the dataset')
    .argument('<name>', 'name of the dataset')
    .requiredOption('--prompt <name>', 'prompt whose inputs are written')
    .requiredOption('--model <name>', 'model that writes them')
    .option('--count <number>', 'number of inputs, at most 50 (default: 20)', wholeNumber)
    .option('--instructions <text>', 'what the inputs should be like')
    .option('--max-cost <usd>', 'refuse a call that could cost more', decimal)
    .option('--add', 'add them to the dataset')
    .option('--json', 'print JSON')
    .action((name: string, options: GenerateOptions) => generate(context, name, options));

  datasets
    .command('from-scores')
    .description('add outputs that people scored to a dataset, as examples for a judge')
    .argument('<name>', 'name of the dataset')
    .requiredOption('--score <name>', 'name of the score')
    .option('--feedback', 'count scores by users with feedback tokens, too')
    .option('--since <time>', 'scores stored at or after this time (ISO 8601 with a zone)')
    .option('--until <time>', 'scores stored before this time (ISO 8601 with a zone)')
    .option('--limit <number>', 'maximum number of outputs', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (name: string, { json, ...body }: Api.DatasetFromScores & { json?: boolean }) =>
      printChange(
        context,
        await (await connect(context)).call('createDatasetFromScores', { path: { name }, body }),
        json,
      ),
    );
}
