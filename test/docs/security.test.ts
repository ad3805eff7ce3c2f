import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT } from '../support/processes.ts';

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');

/** What `docs/security.md` names: a file, and tests in it. */
const references = [
  ...read('docs/security.md').matchAll(/`(test\/[\w./-]+\.test\.ts)`: ((?:\*[^*]+\*(?:, )?)+)/g),
].flatMap(([, file = '', names = '']) => [...names.matchAll(/\*([^*]+)\*/g)].map(([, name = '']) => ({ file, name })));

test('there are references', () => expect(references.length).toBeGreaterThan(30));

test.each(references)('$file has the test "$name"', ({ file, name }) => {
  expect(read(file).replaceAll("\\'", "'")).toContain(name);
});

test.each(
  [...read('docs/security.md').matchAll(/`((?:models|temporal|activities|outbound)\/[\w./-]*)`/g)].map(
    ([, file = '']) => file,
  ),
)('src/%s is there', (file) => {
  expect(() => readFileSync(path.join(PROJECT, 'src', file))).not.toThrow(/ENOENT/);
});
