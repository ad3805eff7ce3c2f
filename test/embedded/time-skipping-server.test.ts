import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../src/embedded/ports.ts';
import { ensureTimeSkippingServer } from '../support/time-skipping-server.ts';
import { scratchFolder, writeScript } from './support.ts';

let folder: string;
let bin: string;
/** Nothing listens there. */
let closed: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ folder, remove } = await scratchFolder());
  closed = `http://127.0.0.1:${await freePort()}`;
  bin = path.join(folder, 'bin');
  await mkdir(bin);
});
afterAll(() => remove());

const find = (report: (line: string) => void) =>
  ensureTimeSkippingServer({
    report,
    cacheDir: path.join(folder, 'cache'),
    downloadBaseUrl: closed,
    env: { PATH: bin, HOME: folder },
  });

test('names missing parts, and uses Maven and the cache in turn', async () => {
  await expect(find(() => {})).rejects.toMatchObject({
    code: 'test_server_unavailable',
    message: expect.stringContaining('Maven is not installed'),
  });

  await writeScript(path.join(bin, 'mvn'), [
    'for arg; do case "$arg" in -DoutputDirectory=*) /bin/mkdir "$(echo "$arg" | /usr/bin/cut -d= -f2)";; esac; done',
  ]);
  await writeScript(path.join(bin, 'java'), ['echo \'openjdk version "1.8.0_392"\' >&2']);
  await expect(find(() => {})).rejects.toThrow('Java is 8, and 11 is needed');

  await writeScript(path.join(bin, 'java'), [
    'echo \'openjdk version "17.0.15" 2025-04-15\' >&2; test -z "$OUT" || echo "$@" > "$OUT"',
  ]);
  const server = await find(() => {});
  const lines: string[] = [];
  expect(await find((line) => lines.push(line))).toBe(server);
  expect(lines).toEqual([`Time-skipping server from the cache: ${server}`]);

  const out = path.join(folder, 'arguments');
  await promisify(execFile)(server, ['7777'], { env: { PATH: `${bin}:/usr/bin:/bin`, OUT: out } });
  expect(await readFile(out, 'utf8')).toMatch(/-cp .*\/jars\/\* io\.temporal\.testserver\.TestServer 7777\n$/);
});
