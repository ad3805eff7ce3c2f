import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT } from '../support/processes.ts';

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');

/** What the table of attacks names: a file, and the test in it. */
const attacks = [
  ...read('docs/sign-in.md').matchAll(/^\| .* \| `(test\/sign-in\/[\w-]+\.test\.ts)`: \*(.+)\* \|$/gm),
].map(([, file = '', name = '']) => ({ file, name }));

test('there are attacks', () => expect(attacks.length).toBeGreaterThan(50));

test.each(attacks)('$file has the test "$name"', ({ file, name }) => {
  expect(read(file)).toContain(`'${name}'`);
});
