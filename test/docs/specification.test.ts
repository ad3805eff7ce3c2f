import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT } from '../support/processes.ts';

const read = (file: string) => readFileSync(path.join(PROJECT, file), 'utf8');
const headings = [...read('docs/specification.md').matchAll(/^##+ (.*)$/gm)].map(([, title = '']) => title);

/** `(specification, Retries)` in comments: the section is the text behind the comma, without the number of a list item. */
const citations = globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: PROJECT })
  .filter((file) => !file.startsWith('test/docs/'))
  .flatMap((file) =>
    [...read(file).matchAll(/\b[Ss]pecification, ([A-Z][a-z]+(?: [a-z]+)*)/g)].map(([, section = '']) => ({
      file,
      section,
    })),
  );

test('there are citations', () => expect(citations.length).toBeGreaterThan(3));

test.each(citations)('$file cites an existing section: $section', ({ section }) => {
  expect(headings).toContain(section);
});
