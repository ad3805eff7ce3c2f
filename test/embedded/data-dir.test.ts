import { cp, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { lockDataDir } from '../../src/embedded/data-dir.ts';
import { EmbeddedStartError } from '../../src/embedded/errors.ts';
import { otherProcess, scratchFolder } from './support.ts';

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ folder, remove } = await scratchFolder());
});
afterAll(() => remove());

const holdInAnotherProcess = (dir: string) =>
  otherProcess({ lockDataDir: 'data-dir.ts' }, `await lockDataDir(${JSON.stringify(dir)}); tell(process.pid);`);

describe('lockDataDir', () => {
  test('makes the folder for its owner only', async () => {
    const dir = path.join(folder, 'a', 'b');
    const lock = await lockDataDir(dir);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    await lock.release();
  });

  test('refuses a second holder until the first is done', async () => {
    const dir = path.join(folder, 'twice');
    const lock = await lockDataDir(dir);
    const second = lockDataDir(dir);
    await expect(second).rejects.toThrow(EmbeddedStartError);
    await expect(second).rejects.toMatchObject({
      code: 'data_dir_in_use',
      message: `DATA_DIR ${dir} is in use by another npm start (pid ${process.pid}). Stop it, or set DATA_DIR to another folder.`,
    });
    await lock.release();
    await (await lockDataDir(dir)).release();
  });

  test('names the process that holds it, and is free as soon as that is killed', async () => {
    const dir = path.join(folder, 'killed');
    const holder = await holdInAnotherProcess(dir);
    await expect(lockDataDir(dir)).rejects.toThrow(`(pid ${String(holder.told)})`);
    await holder.kill9();
    await (await lockDataDir(dir)).release();
  });

  test('refuses a copy of a folder in use, and accepts one of a released folder', async () => {
    const dir = path.join(folder, 'original');
    const lock = await lockDataDir(dir);
    const live = path.join(folder, 'copied-live');
    await cp(dir, live, { recursive: true });
    await lock.release();
    await expect(lockDataDir(live)).rejects.toMatchObject({
      code: 'data_dir_copied',
      message: expect.stringContaining('npm run backup'),
    });
    const stopped = path.join(folder, 'copied-stopped');
    await cp(dir, stopped, { recursive: true });
    await (await lockDataDir(stopped)).release();
    // By an impatient user.
    await rm(path.join(live, 'lock.pid'));
    await (await lockDataDir(live)).release();
  });

  test('takes the folder of a killed process, even if it was renamed', async () => {
    const dir = path.join(folder, 'left-behind');
    const holder = await holdInAnotherProcess(dir);
    await holder.kill9();
    const moved = path.join(folder, 'moved');
    await rename(dir, moved);
    await (await lockDataDir(moved)).release();
  });

  test('gives it to only one of several at once', async () => {
    const dir = path.join(folder, 'race');
    const results = await Promise.allSettled([lockDataDir(dir), lockDataDir(dir), lockDataDir(dir)]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('reports a file in the way', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    await expect(lockDataDir(file)).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('is a file, not a folder'),
    });
    await expect(lockDataDir(path.join(file, 'below'))).rejects.toMatchObject({
      message: expect.stringContaining('is below a file, not a folder'),
    });
  });
});
