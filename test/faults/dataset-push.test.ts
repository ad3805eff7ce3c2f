import { createWriteStream } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cli, startCli } from '../cli/support.ts';
import { createTestDatabase } from '../support/database.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { chooseProcesses, KEY, type Processes } from '../support/fault-stage.ts';
import { killOrphans, type Started } from '../support/processes.ts';

// Pushes files of the maximum size with the command line.

const MIB = 1024 * 1024;
const FILE_BYTES = (AT_FULL_SIZE ? 256 : 16) * MIB;
/** Maximum memory retained for a file at any moment, excluding garbage. */
const MAX_KEPT_MIB = 12;

// Collects garbage constantly, so that only live memory is left; reports its maximum, and that of all memory.
const WATCH = `
  let kept = 0;
  setInterval(() => { gc(); kept = Math.max(kept, process.memoryUsage().arrayBuffers); }, 50).unref();
  process.on('exit', () => console.error('KiB:', kept >> 10, process.resourceUsage().maxRSS));`;
const WATCH_MEMORY = ['--expose-gc', `--import=data:text/javascript,${encodeURIComponent(WATCH)}`];
const IN_A_TERMINAL = "--import=data:text/javascript,Object.defineProperty(process.stderr,'isTTY',{value:true})";

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

async function apiWithCli(env: Record<string, string> = {}): Promise<{ processes: Processes; api: Started; cli: Cli }> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop(), killOrphans);
  const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const processes = await chooseProcesses({ databaseUrl: database.url, temporalAddress, env });
  const cli = await startCli({ origin: processes.origin, key: KEY });
  cleanUps.push(() => cli.remove());
  return { processes, api: await processes.startApi(), cli };
}

let processes: Processes;
let api: Started;
let cli: Cli;
beforeAll(async () => {
  ({ processes, api, cli } = await apiWithCli());
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

/** Writes a file of the maximum size. @returns the number of its examples */
async function writeRows({ folder }: Cli, file: File, bytes: number): Promise<number> {
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
  await pipeline(chunks, createWriteStream(path.join(folder, file)));
  return rows;
}

test.each<[string, File]>([
  ['csv', 'rows.csv'],
  ['jsonl', 'rows.jsonl'],
])('%s is sent piece by piece', async (name, file) => {
  const rows = await writeRows(cli, file, FILE_BYTES);
  const { code, output } = await cli.start(['datasets', 'push', name, file], { nodeFlags: WATCH_MEMORY }).ended;
  const [memory = '', kept, all] = /^KiB: (\d+) (\d+)\n/m.exec(output) ?? [];
  const [keptMib, allMib] = [Number(kept) / 1024, Number(all) / 1024];
  tell(`${file}: ${FILE_BYTES / MIB} MiB, ${rows} examples: ${keptMib.toFixed(0)} MiB kept of ${allMib.toFixed(0)}`);
  expect({ code, said: output.replace(memory, '') }).toEqual({
    code: 0,
    said: `${name}: version 1, ${rows} examples\n`,
  });
  expect(keptMib).toBeLessThan(MAX_KEPT_MIB);
});

test('an API that is killed in mid-upload is status 3, in one line; nothing is stored, and another push works', async () => {
  const rows = await writeRows(cli, 'rows.jsonl', FILE_BYTES);
  const command = ['datasets', 'push', 'large', 'rows.jsonl'];
  // It reads nothing, so that the upload can't end before the kill: buffers of connections are smaller than the file.
  api.kill('SIGSTOP');
  const pushing = cli.start(command, { nodeFlags: [IN_A_TERMINAL] });
  // The bar that a terminal shows.
  await pushing.says(/ 0\.0 of \d+\.\d MiB/);
  await pushing.says(/ (?!0\.0)\d+\.\d of \d+\.\d MiB/);
  api.kill('SIGKILL');
  const { code, output } = await pushing.ended;
  expect({ code, output }).toEqual({
    code: 3,
    output: expect.stringMatching(
      /rows\.jsonl: the connection was lost after \d+\.\d of \d+\.\d MiB, and nothing was stored: push it again\. PUT \S+: fetch failed: .+\n$/,
    ),
  });
  api = await processes.startApi();
  expect(await cli.pms(['datasets', 'pull', 'large'])).toMatchObject({ status: 2 });
  expect(await cli.pms(command)).toMatchObject({ status: 0, stdout: `large: version 1, ${rows} examples\n` });
});

test('a file that exceeds the workspace quota is refused in one line', async () => {
  const full = await apiWithCli({ QUOTA_DATASET_BYTES: '1MiB' });
  await writeRows(full.cli, 'rows.jsonl', 2 * MIB);
  const { status, stdout, stderr } = await full.cli.pms(['datasets', 'push', 'large', 'rows.jsonl']);
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^This workspace can have at most 1048576 bytes in datasets, .+ QUOTA_DATASET_BYTES\.\n$/,
    ),
  });
});
