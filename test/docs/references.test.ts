import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PROJECT } from '../support/processes.ts';

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');
/** The inline code of a page, without its code blocks. */
const codeOf = (page: string) =>
  [
    ...read(page)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/`([^`\n]+)`/g),
  ].map(([, code = '']) => code);

const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: PROJECT })];
const folders = globSync('*/', { cwd: path.join(PROJECT, 'src') }).map((folder) => folder.replace(/\/$/, ''));
const isPath = new RegExp(`^(src|test|scripts|docs|${folders.join('|')})/[\\w./-]+$`);

const paths = pages.flatMap((page) =>
  codeOf(page)
    .filter((code) => isPath.test(code))
    .map((code) => ({ page, code })),
);

test('there are paths', () => expect(paths.length).toBeGreaterThan(50));

test.each(paths)('$page names a file that exists: $code', ({ code }) => {
  // A test is named without its ending.
  const places = [code, `src/${code}`, `test/${code}`, `test/${code}.test.ts`];
  expect(places.some((file) => existsSync(path.join(PROJECT, file)))).toBe(true);
});

describe('the map of the sources', () => {
  const [, tree = ''] = read('docs/architecture.md').match(/\n {4}src\/\n((?: {4}.*\n)+)/) ?? [];
  const named = [...tree.matchAll(/^( {4}| {6})([a-z][\w-]*(?:\/|\.ts)) /gm)].map(([, indent = '', name = '']) =>
    indent.length === 6 ? `src/${name}` : name,
  );
  const inSources = readdirSync(path.join(PROJECT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `src/${entry.name}/`);

  test.each(named)('%s exists', (name) => expect(existsSync(path.join(PROJECT, name))).toBe(true));
  test('names each folder of src', () => {
    expect(named.filter((name) => /^src\/.*\/$/.test(name)).sort()).toEqual(inSources.sort());
  });
});

test('the list of guides names each decision', () => {
  const list = read('docs/README.md');
  const missing = readdirSync(path.join(PROJECT, 'docs/decisions')).filter(
    (file) => !list.includes(`decisions/${file}`),
  );
  expect(missing).toEqual([]);
});

describe('log lines for operators', () => {
  const sources = globSync('src/**/*.ts', { cwd: PROJECT }).map(read).join('\n');
  const lines = codeOf('docs/operations.md').filter((code) => /^[a-z][\w-]*(;? [\w-]+){3,}$/.test(code));

  test('are named', () => expect(lines.length).toBeGreaterThan(4));
  test.each(lines)('%s', (line) => {
    expect(sources.includes(line)).toBe(true);
  });
});
