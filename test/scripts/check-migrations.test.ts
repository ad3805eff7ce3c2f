import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const script = fileURLToPath(new URL('../../scripts/check-migrations.ts', import.meta.url));
const fixture = (name: string) => fileURLToPath(new URL(`migrations/${name}.ts`, import.meta.url));

/** The exit status and output. */
const check = (...files: string[]) =>
  promisify(execFile)(process.execPath, [script, ...files]).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  );

test('no migration since 1.0.0 disturbs the release that runs meanwhile', async () => {
  expect(await check()).toEqual({ code: 0, output: expect.stringContaining('since 1.0.0') });
});

test('additions without locks pass', async () => {
  expect(await check(fixture('good'), fixture('good-outside-of-a-transaction'))).toMatchObject({ code: 0 });
});

test('long table locks, and removals of what the last release uses, are refused', async () => {
  const { code, output } = await check(fixture('bad'));
  expect(code).toBe(1);
  for (const rule of [
    'require-concurrent-index-creation',
    'require-lock-timeout',
    'ban-drop-column',
    'renaming-column',
    'changing-column-type',
    'adding-required-field',
  ])
    expect(output).toContain(rule);
});
