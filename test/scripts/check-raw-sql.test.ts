import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const script = fileURLToPath(new URL('../../scripts/check-raw-sql.ts', import.meta.url));
let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'pms-raw-sql-'));
  await mkdir(path.join(root, 'src'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The exit status and output for a single source file. */
async function check(source: string, ...options: string[]): Promise<{ code: number; output: string }> {
  await writeFile(path.join(root, 'src', 'file.ts'), source);
  return promisify(execFile)(process.execPath, [script, ...options, root]).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stdout }) => ({ code, output: stdout }),
  );
}

const STATEMENT = "query({ text: 'select id from prompts where workspace_id = $1' });\n";

test('a statement as text must say why, and their number is limited', async () => {
  expect(await check(STATEMENT, '--explained')).toMatchObject({
    code: 1,
    output: expect.stringMatching('src/file.ts:1'),
  });
  const explained = `// raw SQL: the builder has no such join\n${STATEMENT}`;
  expect(await check(explained, '--explained', '--max', '1')).toMatchObject({ code: 0 });
  expect(await check(`${explained}${explained}`, '--explained', '--max', '1')).toMatchObject({ code: 1 });
});

test.each([
  "query({ text: 'update prompts set name = $2 where id = $1' });",
  'const text = `with gone as (delete from prompts returning id) select id from gone`;',
  "run('insert into prompts (id) values ($1)');",
])('%s is found', async (source) => {
  expect(await check(source, '--max', '0')).toMatchObject({ code: 1 });
});

test('builder output, comments and sentences are not', async () => {
  const source = `// select nothing from nowhere
db.selectFrom('prompts').select('id');
throw new Error('Select one.');
`;
  expect(await check(source, '--max', '0')).toMatchObject({ code: 0 });
});
