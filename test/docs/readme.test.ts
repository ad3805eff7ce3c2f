import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

test('the README fits into 10 kB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(10_000);
});

test('links in the documents lead to existing files and headings', () => {
  for (const file of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]) {
    const text = read(file);
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [to = '', heading] = target.split('#');
      const linked = to === '' ? path.join(root, file) : path.join(root, path.dirname(file), to);
      expect({ file, target, exists: existsSync(linked) }).toEqual({ file, target, exists: true });
      if (heading === undefined) continue;
      const anchors = [...readFileSync(linked, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
      expect({ file, target, anchors }).toEqual({ file, target, anchors: expect.arrayContaining([heading]) });
    }
  }
});
