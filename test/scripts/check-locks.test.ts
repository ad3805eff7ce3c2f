import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const script = fileURLToPath(new URL('../../scripts/check-locks.ts', import.meta.url));
const lock = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pms-locks-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The exit status and output for the project's lock with these fields of one package changed. */
async function check(change: Record<string, string | undefined>): Promise<{ code: number; output: string }> {
  const changed = JSON.parse(await readFile(lock, 'utf8'));
  Object.assign(changed.packages['node_modules/zod'], change);
  const file = path.join(folder, 'package-lock.json');
  await writeFile(file, JSON.stringify(changed));
  return promisify(execFile)(process.execPath, [script, file]).then(
    ({ stderr }) => ({ code: 0, output: stderr }),
    ({ code, stderr }) => ({ code, output: stderr }),
  );
}

test('every package of a lock file must have a checksum that npm verifies', async () => {
  expect(await check({})).toEqual({ code: 0, output: '' });
  expect(await check({ integrity: undefined })).toMatchObject({
    code: 1,
    output: expect.stringContaining('node_modules/zod has no integrity'),
  });
  expect(await check({ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' })).toMatchObject({
    code: 1,
    output: expect.stringContaining('not of SHA-512'),
  });
});

test('no package has its own address', async () => {
  expect(await check({ resolved: 'https://registry.example/zod.tgz' })).toMatchObject({
    code: 1,
    output: expect.stringContaining('node_modules/zod names an address'),
  });
});
