// node scripts/check-prose.ts
// Checks all text for readers against the words of scripts/prose.ts: the documentation, the texts of the API, the console, the
// command line, the errors and the log, files of settings and deployment, and comments.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { commentsOf, type Literal, literalsOf } from '../console/strings/literals.ts';
import { type Finding, oddOfComments, oddOfPage, oddOfTexts } from './prose.ts';

const root = path.resolve(import.meta.dirname, '..');
const filesOf = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: ['**/{dist,generated,node_modules}/**', 'src/db/migrations/**'] }).sort();
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
for (const file of filesOf('{src,cli/src,clients/typescript/src}/**/*.ts')) {
  const source = read(file);
  const lines = source.split('\n');
  const literals = literalsOf(file, source).filter(({ text, line }) => {
    if (/prose: \S/.test(lines[line - 2] ?? '')) exempt.add(text);
    return isProse(text) && !exempt.has(text);
  });
  report(file, await oddOfTexts(literals.map(({ text }) => text)), (line) => literals[line - 1]?.line ?? 0);
}

/** The lines of a file with `#` for comments; comments below each other are one text. */
function linesOf(source: string): Literal[] {
  const found: Literal[] = [];
  let isComment = false;
  for (const [index, line] of source.split('\n').entries()) {
    const [, comment] = /^\s*# ?(.*)/.exec(line) ?? [];
    const last = found.at(-1);
    if (last && isComment && comment !== undefined) last.text += ` ${comment}`;
    else found.push({ text: comment ?? line, line: index + 1 });
    isComment = comment !== undefined;
  }
  return found;
}

async function reportComments(file: string, comments: Literal[]): Promise<void> {
  report(file, await oddOfComments(comments.map(({ text }) => text)), (line) => comments[line - 1]?.line ?? 0);
}
for (const file of filesOf('{src,cli,clients,console,scripts,test,bench,tools}/**/*.{ts,tsx,mts,mjs}'))
  await reportComments(file, commentsOf(file, read(file)));
for (const file of filesOf(
  '.env.example',
  'Dockerfile',
  '*.yml',
  '.github/**/*.yml',
  'deploy/**/*.*',
  'clients/python/src/**/*.py',
))
  await reportComments(file, linesOf(read(file)));

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
