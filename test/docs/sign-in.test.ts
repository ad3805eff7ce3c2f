import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { PROJECT } from '../support/processes.ts';

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');

/** The tests of each kind of attack that docs/sign-in.md describes, by file. */
const kinds = z
  .record(z.string(), z.record(z.string(), z.array(z.string())))
  .parse(JSON.parse(read('test/docs/attacks.json')));
const attacks = Object.values(kinds).flatMap((files) =>
  Object.entries(files).flatMap(([file, names]) => names.map((name) => ({ file, name }))),
);
const described = [...(read('docs/sign-in.md').split('## Attacks')[1] ?? '').matchAll(/^- \*\*(.+?)\*\*/gm)].map(
  ([, kind]) => kind,
);

test('every kind of attack has tests', () => {
  expect(attacks.length).toBeGreaterThan(50);
  expect(Object.keys(kinds)).toEqual(described);
});

test.each(attacks)('$file has the test "$name"', ({ file, name }) => {
  expect(read(file)).toContain(`'${name}'`);
});
