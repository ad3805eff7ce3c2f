import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';

const MAX_COMPRESSED_BYTES = 15_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

test('the built client is small, and imports nothing but a parser of events', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-client-'));
  try {
    const project = path.join(root, 'clients/typescript/tsconfig.build.json');
    await run('npx', ['tsc', '--project', project, '--outDir', folder, '--removeComments'], { cwd: root });
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.js'));
    const sources = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
    const all = sources.join('\n');
    expect(gzipSync(all, { level: 9 }).length).toBeLessThan(MAX_COMPRESSED_BYTES);
    const imported = new Set([...all.matchAll(/ from ["']([^"'.][^"']*)["']/g)].map(([, name]) => name));
    expect([...imported]).toEqual(['eventsource-parser']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
