import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** Files of the repository outside `console` that its sources import. */
function imported(): Set<string> {
  const found = new Set<string>();
  for (const file of globSync('console/{src,strings}/**/*.{ts,tsx}', { cwd: root }))
    for (const [, specifier = ''] of read(file).matchAll(/(?:from|import) '(\.[^']+)'/g)) {
      const target = path.join(path.dirname(file), specifier);
      if (!target.startsWith('console/')) found.add(target);
    }
  return found;
}

const isIn = (file: string, folders: readonly string[]) =>
  folders.some((folder) => file === folder || file.startsWith(`${folder}/`));

test('the image is built from everything that the console imports', () => {
  const [build = ''] = read('Dockerfile').split(/^FROM .* AS certificates$/m);
  const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
  const kept = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name = '']) => name);
  const files = [...imported()];
  expect(files.length).toBeGreaterThan(10);
  for (const list of [copied, kept]) expect(files.filter((file) => !isIn(file, list))).toEqual([]);
});
