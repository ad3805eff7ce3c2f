import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../src/embedded/ports.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { scratchFolder, writeScript } from './support.ts';

let folder: string;
let remove: () => Promise<void>;
let place: { bin: string; cacheDir: string };
let count = 0;
/** Nothing listens there. */
let closed: string;
beforeAll(async () => {
  ({ folder, remove } = await scratchFolder());
  closed = `http://127.0.0.1:${await freePort()}`;
});
afterAll(() => remove());
beforeEach(async () => {
  count += 1;
  place = { bin: path.join(folder, `bin-${count}`), cacheDir: path.join(folder, `cache-${count}`) };
  await mkdir(place.bin);
});

const says = (version: string) => [`echo "temporal version ${version} (Server 1.29.1, UI 2.42.1)"`];

/** A `go` that "builds" a program by writing a script, after a moment in which a second build could get in its way. */
const writeGo = (version: string, builds = '1.5.1') =>
  writeScript(path.join(place.bin, 'go'), [
    `if [ "$1" = version ]; then echo "go version go${version} linux/amd64"; exit; fi`,
    `echo built >> "${folder}/builds-${count}"`,
    'while [ "$1" != -o ]; do shift; done',
    '/bin/sleep 0.2',
    `printf '#!/bin/sh\\n${says(builds)[0]}\\n' > "$2"`,
    '/bin/chmod 755 "$2"',
  ]);

const find = async () => {
  const lines: string[] = [];
  const env = { PATH: place.bin, HOME: folder };
  const options = {
    report: (line: string) => lines.push(line),
    cacheDir: place.cacheDir,
    downloadBaseUrl: closed,
    env,
  };
  return { file: await ensureTemporal(options), lines };
};

describe('ensureTemporal', () => {
  test('uses an installed one that is new enough, and fetches nothing', async () => {
    await writeScript(path.join(place.bin, 'temporal'), says('1.10.0'));
    const { file, lines } = await find();
    expect(file).toBe(path.join(place.bin, 'temporal'));
    expect(lines).toEqual([`Temporal from the PATH: ${file}`]);
    await expect(readdir(place.cacheDir)).rejects.toThrow('ENOENT');
  });

  test('skips an old one, builds rather than download unverified files, and then has it in the cache', async () => {
    await writeScript(path.join(place.bin, 'temporal'), says('1.5.0'));
    await writeGo('1.25.0');
    const { file, lines } = await find();
    expect(file.startsWith(place.cacheDir)).toBe(true);
    expect(lines.join('\n')).toContain('1.5.0, and 1.5.1 is needed');
    expect(lines.join('\n')).not.toContain('download');

    const again = await find();
    expect(again.file).toBe(file);
    expect(again.lines.at(-1)).toBe(`Temporal from the cache: ${file}`);
  });

  test('builds once for two simultaneous users', async () => {
    await writeGo('1.26.1');
    const [one, two] = await Promise.all([find(), find()]);
    expect(one.file).toBe(two.file);
    expect([one, two].flatMap(({ lines }) => lines).filter((line) => line.startsWith('Building'))).toHaveLength(1);
    const left = await readdir(path.dirname(path.dirname(one.file)));
    expect(left.filter((name) => name.includes('.new-'))).toEqual([]);
  });

  test('reports why each source has none, and what to install', async () => {
    await writeGo('1.24.9');
    await expect(find()).rejects.toMatchObject({
      code: 'temporal_unavailable',
      message: expect.stringMatching(
        /not from the PATH: .*\n.*not from the cache: .*\n.*Go is 1\.24\.9, and 1\.25 is needed\n.*not from its official download: .*127\.0\.0\.1:.*\nInstall the Temporal CLI/,
      ),
    });
  });

  test('discards a build of the wrong version', async () => {
    await writeGo('1.25.3', '1.4.0');
    await expect(find()).rejects.toThrow('the new program does not run here, or its version is 1.4.0');
    expect((await readdir(path.join(place.cacheDir, 'temporal'))).filter((name) => !name.endsWith('.lock'))).toEqual(
      [],
    );
  });

  test('does without Go', async () => {
    await expect(find()).rejects.toThrow('Go is not installed');
  });
});
