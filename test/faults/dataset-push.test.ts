import { createWriteStream } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Cli, startCli } from '../cli/support.ts';
import { createTestDatabase } from '../support/database.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { chooseProcesses, KEY, type Processes } from '../support/fault-stage.ts';
import { killLeftovers, type Started } from '../support/processes.ts';

// Files that are as large as the service takes, pushed by the command line.

const MIB = 1024 * 1024;
const FILE_BYTES = (AT_FULL_SIZE ? 256 : 28) * MIB;
/** What pushing a large file may take beyond pushing a small one, whatever its size. */
const MAX_EXTRA_MIB = 96;

const TELL_MEMORY = `--import=data:text/javascript,process.on('exit',()=>console.error('KiB:',process.resourceUsage().maxRSS))`;
const IN_A_TERMINAL = "--import=data:text/javascript,Object.defineProperty(process.stderr,'isTTY',{value:true})";

let database: { url: string; drop(): Promise<void> };
let processes: Processes;
let api: Started;
let cli: Cli;
beforeEach(async () => {
  database = await createTestDatabase();
  processes = await chooseProcesses({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
  });
  api = await processes.startApi();
  cli = await startCli({ origin: processes.origin, key: KEY });
});
afterEach(async () => {
  await cli?.remove();
  await killLeftovers();
  await database?.drop();
});

const WORDS = 'word '.repeat(80);
const FORMATS = {
  'rows.csv': {
    head: 'id,question,expected\n',
    row: (index: number) => `row-${index},"Question ${index}, ${WORDS}",${index}\n`,
  },
  'rows.jsonl': {
    head: '',
    row: (index: number) =>
      `{"id": "row-${index}", "variables": {"question": "Question ${index}, ${WORDS}"}, "expected": "${index}"}\n`,
  },
};
type File = keyof typeof FORMATS;

/** Writes a file that is as large as it may be, and not larger. @returns how many examples it has */
async function writeRows(file: File, bytes: number): Promise<number> {
  const { head, row } = FORMATS[file];
  let rows = 0;
  function* chunks() {
    let written = head.length;
    let chunk = head;
    for (;;) {
      const next = row(rows);
      if (written + next.length > bytes) break;
      rows += 1;
      written += next.length;
      chunk += next;
      if (chunk.length < MIB) continue;
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }
  await pipeline(chunks, createWriteStream(path.join(cli.folder, file)));
  return rows;
}

/** Pushes a file. @returns what was said, and the memory that it took */
async function push(file: File): Promise<{ code: number | null; output: string; mib: number }> {
  const { code, output } = await cli.start(['datasets', 'push', 'large', file], { nodeFlags: [TELL_MEMORY] }).ended;
  const mib = Number(/^KiB: (\d+)$/m.exec(output)?.[1]) / 1024;
  return { code, output: output.replace(/^KiB: .*\n/m, ''), mib };
}

test.each<[File]>([['rows.csv'], ['rows.jsonl']])('%s is sent piece by piece, whatever its size', async (file) => {
  await writeRows(file, 10_000);
  const small = await push(file);
  const rows = await writeRows(file, FILE_BYTES);
  const large = await push(file);
  tell(`${file}: ${FILE_BYTES / MIB} MiB, ${rows} examples: ${large.mib.toFixed(0)} MiB (${small.mib.toFixed(0)})`);
  expect(large).toMatchObject({ code: 0, output: `large: version 2, ${rows} examples\n` });
  expect(large.mib).toBeLessThan(small.mib + MAX_EXTRA_MIB);
});

test('an API that is killed in mid-upload is status 3, in one line; nothing was stored, and pushing again works', async () => {
  const rows = await writeRows('rows.jsonl', FILE_BYTES);
  const command = ['datasets', 'push', 'large', 'rows.jsonl'];
  const pushing = cli.start(command, { nodeFlags: [IN_A_TERMINAL] });
  // The bar that a terminal shows.
  await pushing.says(/ 0\.0 of \d+\.\d MiB/);
  await pushing.says(/ (?!0\.0)\d+\.\d of \d+\.\d MiB/);
  api.kill('SIGKILL');
  const { code, output } = await pushing.ended;
  expect({ code, output }).toEqual({
    code: 3,
    output: expect.stringMatching(
      /rows\.jsonl: the connection broke after \d+\.\d of \d+\.\d MiB, and nothing was stored: push it again\. PUT \S+: fetch failed: .+\n$/,
    ),
  });
  api = await processes.startApi();
  expect(await cli.pms(['datasets', 'pull', 'large'])).toMatchObject({ status: 2 });
  expect(await cli.pms(command)).toMatchObject({ status: 0, stdout: `large: version 1, ${rows} examples\n` });
});

test('a file for which the workspace has no room left is refused in one line', async () => {
  api.kill('SIGKILL');
  await api.ended;
  api = await processes.startApi({ QUOTA_DATASET_BYTES: '8MiB' });
  await writeRows('rows.jsonl', FILE_BYTES);
  const { status, stdout, stderr } = await cli.pms(['datasets', 'push', 'large', 'rows.jsonl']);
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^This workspace may have at most 8388608 bytes in datasets, .+ QUOTA_DATASET_BYTES\.\n$/,
    ),
  });
});
