// node scripts/check-prose.ts
// Checks all text for readers against the words of scripts/prose.ts: the documentation, and the texts of the API, the console,
// the command line, the errors and the log.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { literalsOf } from '../console/strings/literals.ts';
import { type Finding, oddOfPage, oddOfTexts } from './prose.ts';

const root = path.resolve(import.meta.dirname, '..');
const filesOf = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: ['**/generated/**', 'src/db/migrations/**', 'src/workflows/**'] }).sort();
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

let count = 0;
function report(file: string, findings: Finding[], lineOf = (line: number) => line): void {
  for (const { line, text, advice } of findings) console.error(`${file}:${lineOf(line)}: ${advice} ${text}`);
  count += findings.length;
}

for (const file of filesOf('*.md', 'docs/**/*.md', 'skills/**/*.md', '{cli,clients/*}/README.md'))
  report(file, await oddOfPage(read(file)));

/** A sentence or a part of one, but not a name, a path or SQL. */
const isProse = (text: string) =>
  /\w+ \w+ \w/.test(text) && !/^\s*(?:select|with|update|insert|delete|create|from|and|where|exists)\s/.test(text);

/** Exempt texts: a comment `prose: why` is on the line above. */
const exempt = new Set<string>();
for (const file of filesOf('src/**/*.ts', 'cli/src/**/*.ts')) {
  const source = read(file);
  const lines = source.split('\n');
  const literals = literalsOf(file, source).filter(({ text, line }) => {
    if (/prose: \S/.test(lines[line - 2] ?? '')) exempt.add(text);
    return isProse(text) && !exempt.has(text);
  });
  report(file, await oddOfTexts(literals.map(({ text }) => text)), (line) => literals[line - 1]?.line ?? 0);
}

// Both are composed of the sources above, so only a whole sentence can be odd.
const descriptions = new Set<string>();
JSON.parse(read('openapi.json'), (key, value) => {
  if ((key === 'summary' || key === 'description') && typeof value === 'string' && !exempt.has(value))
    descriptions.add(value);
  return value;
});
async function reportJson(file: string, texts: string[]): Promise<void> {
  const lines = read(file).split('\n');
  report(
    file,
    await oddOfTexts(texts),
    (at) => lines.findIndex((line) => line.includes(JSON.stringify(texts[at - 1]))) + 1,
  );
}
await reportJson('openapi.json', [...descriptions]);
await reportJson('console/strings/en.json', Object.keys(JSON.parse(read('console/strings/en.json'))));

if (count > 0) process.exitCode = 1;
