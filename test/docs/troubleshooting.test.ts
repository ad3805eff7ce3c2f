import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { STATUS_OF_CODE } from '../../src/http/status.ts';
import { MODEL_ERROR_CODES } from '../../src/models/model-error.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(path.join(PROJECT, 'docs/troubleshooting.md'), 'utf8');
/** The cells of each row of the tables under a heading, without their heads. */
const rowsOf = (heading: string): string[][] => {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) => row.split(' | '));
  return rows.filter(([first = '']) => first.startsWith('`') && first !== '`error.code`' && first !== '`problem`');
};
const codesIn = (rows: string[][]) =>
  rows.flatMap(([first = '']) => [...first.matchAll(/`(\w+)`/g)].map(([, code = '']) => code));

// Texts that are joined in the source are one text to its reader.
const sources = globSync(['src/**/*.ts', 'console/index.html'], { cwd: PROJECT })
  .map((file) => readFileSync(path.join(PROJECT, file), 'utf8'))
  .join('\n')
  .replace(/['`] \+\n\s*['`]/g, '')
  .replaceAll("\\'", "'");

test('every code of the API has a row, with its status', () => {
  const rows = rowsOf('Error codes of the API');
  expect(codesIn(rows)).toEqual([...ERROR_CODES]);
  const statuses = rows.map(([, status]) => Number(status));
  expect(statuses).toEqual(ERROR_CODES.map((code) => STATUS_OF_CODE[code]));
});

test('every code of a failed call has a row, and every code named for runs exists', () => {
  const codes = codesIn(rowsOf('Runs and examples that failed'));
  expect(codes).toEqual(expect.arrayContaining(MODEL_ERROR_CODES));
  for (const code of codes) expect([code, sources.includes(`'${code}'`)]).toEqual([code, true]);
});

test('every problem of a score has a row', () => {
  const [, listed = ''] = /export type ScoreProblem =([\s\S]*?);/.exec(sources) ?? [];
  const problems = [...listed.matchAll(/'(\w+)'/g)].map(([, problem = '']) => problem);
  expect(problems.length).toBeGreaterThan(4);
  expect(codesIn(rowsOf('Runs and examples that failed'))).toEqual(expect.arrayContaining(problems));
});

describe('a message is what the service says', () => {
  const headings = [
    'The start fails',
    'Too many requests',
    'Evaluations are paused or wait',
    'The console is blank or refuses',
  ];
  const messages = headings.flatMap((heading) => rowsOf(heading).map(([first = '']) => first.replaceAll('`', '')));

  test('there are messages', () => expect(messages.length).toBeGreaterThan(15));
  test.each(messages)('%s', (message) => {
    for (const part of message.split('…').map((each) => each.trim()))
      expect([part, sources.includes(part)]).toEqual([part, true]);
  });
});
