import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT } from '../support/processes.ts';

// `repository` in package.json is the address of the project; all other places match it.

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');
const own: string = JSON.parse(read('package.json')).repository.replace(/^github:/, '');
const address = `https://github.com/${own}`;

test.each([
  ['cli', 'pms-cli'],
  ['clients/typescript', 'pms-client'],
])('the package of %s is %s, from the repository', (directory, name) => {
  const { homepage, bugs, repository, ...about } = JSON.parse(read(`${directory}/package.json`));
  expect({ homepage, bugs, repository, name: about.name }).toEqual({
    name,
    homepage: `${address}#readme`,
    bugs: `${address}/issues`,
    repository: { type: 'git', url: `git+${address}.git`, directory },
  });
});

test('so is the Python package', () => {
  const project = read('clients/python/pyproject.toml');
  expect(project).toContain('\nname = "pms-client"\n');
  const [, urls = ''] = /\[project\.urls\]\n([\s\S]*?)\n\n/.exec(project) ?? [];
  const found = [...urls.matchAll(/= "([^"]+)"/g)].map(([, url]) => url);
  expect(found).toHaveLength(3);
  for (const url of found) expect(url === address || url?.startsWith(`${address}/`)).toBe(true);
});

test('documents name only these, and install no other package', () => {
  expect(read('docs/releasing.md')).toContain(`github.com/${own}`);
  for (const file of [
    'README.md',
    'docs/cli.md',
    'cli/README.md',
    'clients/typescript/README.md',
    'clients/python/README.md',
  ])
    for (const [line] of read(file).matchAll(/\b(npm (i|install|exec)|npx|pip install)\b.*/g))
      expect([file, line]).toEqual([file, expect.not.stringMatching(/(install|exec|-g|--save-dev) pms(@|\s|$)/)]);
});
