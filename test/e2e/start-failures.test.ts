import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { killOrphans, processesNaming, startNode } from '../support/processes.ts';
import { createTestEnvironment, type Place } from '../support/processes-service.ts';

let place: Place;
beforeAll(async () => {
  place = await createTestEnvironment();
});
afterEach(killOrphans);
afterAll(() => place.remove());

/** The message of a start that fails with these settings. */
async function refusal(settings: Record<string, string>, script = 'src/main.ts'): Promise<string> {
  const { code, output } = await startNode(script, { ...place.env, ...settings }).ended;
  expect(code).toBe(1);
  // A sentence for the person at the terminal, not a stack trace.
  expect(output).not.toMatch(/^ +at |"stack"/m);
  expect(processesNaming(place.dataDir)).toEqual([]);
  return output;
}

test.each(['PORT', 'METRICS_PORT', 'TEMPORAL_UI_PORT'])('a taken %s is named with a remedy', async (setting) => {
  const holder = net.createServer().listen(Number(place.env[setting]), '127.0.0.1');
  await once(holder, 'listening');
  const output = await refusal({});
  holder.close();
  expect(output).toContain(`Port ${place.env[setting]} on 127.0.0.1 is taken by another program.`);
  expect(output).toContain(`set ${setting} to another port`);
});

test('two settings with the same port are found', async () => {
  expect(await refusal({ METRICS_PORT: place.env['PORT'] ?? '' })).toContain('set METRICS_PORT to another port');
});

test('wrong settings are all listed at once', async () => {
  const output = await refusal({
    PORT: 'eighty',
    DATABASE_URL: 'mysql://localhost/pms',
    ENCRYPTION_KEY: 'short',
    MODEL_TIMEOUT: '2 fortnights',
    OPENAI_BASE_URL: 'ftp://example.com',
  });
  for (const name of ['PORT', 'DATABASE_URL', 'ENCRYPTION_KEY', 'MODEL_TIMEOUT', 'OPENAI_BASE_URL'])
    expect(output).toMatch(new RegExp(`^ {2}- ${name}: `, 'm'));
});

test('API and worker name every missing server setting', async () => {
  const outputs = await Promise.all(['src/api/server.ts', 'src/worker.ts'].map((script) => refusal({}, script)));
  for (const output of outputs)
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'ENCRYPTION_KEY'])
      expect(output).toMatch(new RegExp(`^ {2}- ${name}: `, 'm'));
});

test('an impossible data directory is named', async () => {
  await mkdir(place.dataDir, { recursive: true });
  const file = path.join(place.dataDir, 'a-file');
  await writeFile(file, '');
  // The last is a file system in which not even root can create a folder.
  const folders = [file, path.join(file, 'below'), '/sys/pms-data'];
  const outputs = await Promise.all(folders.map((folder) => refusal({ DATA_DIR: folder })));
  const reasons = ['is a file, not a folder', 'is below a file, not a folder', 'is not writable by this user'];
  for (const [index, output] of outputs.entries())
    expect(output).toContain(
      `DATA_DIR ${folders[index]} ${reasons[index]}. Fix that, or set DATA_DIR to another folder.`,
    );
});
