import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const folder = fileURLToPath(new URL('../../src/db/migrations/', import.meta.url));
const NAME = /^Migration(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)_[a-z0-9_]+\.ts$/;

async function migrations(): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
}

/** The creation time in a migration's name. */
function timeOf(file: string): Date {
  const [, year, month, day, hour, minute, second] = (NAME.exec(file) ?? []).map(Number);
  return new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second));
}

test('no migration is dated in the future, so new ones come after all of them', async () => {
  const files = await migrations();
  expect(files.filter((file) => !NAME.test(file))).toEqual([]);
  expect(files.filter((file) => !(timeOf(file) <= new Date()))).toEqual([]);
});

test('no two migrations have the same time, which orders them, and each is named like its file', async () => {
  const files = await migrations();
  expect(new Set(files.map((file) => timeOf(file).getTime())).size).toBe(files.length);
  for (const file of files) {
    const name = file.replace('.ts', '');
    expect(await readFile(`${folder}${file}`, 'utf8')).toContain(`export class ${name} extends`);
  }
});
