import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { labelOf, seedPrompt, untilRelease } from '../api/releases/releases-support.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService();
  cli = await startCli(service);
  await writeFile(path.join(cli.folder, 'quick.yaml'), '- { type: canary, percent: 10 }\n- { type: promote }\n');
  await writeFile(path.join(cli.folder, 'slow.json'), JSON.stringify({ steps: [{ type: 'wait', for: '1h' }] }));
  await writeFile(path.join(cli.folder, 'asks.yaml'), 'steps:\n  - type: approve\n    exclude_author: false\n');
});
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
});

const start = (name: string, policy: string, ...args: string[]) =>
  cli.pms(['release', 'start', name, '--label', 'production', '--policy', policy, ...args]);

test('a release that succeeds is status 0', async () => {
  await seedPrompt(service.call, 'cli/good');
  const { status, stdout, stderr } = await start('cli/good', 'quick.yaml', '--version', '2', '--wait');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('cli/good @production, version 1 → 2');
  expect(stdout).toContain('succeeded');
  expect(await labelOf(service.call, 'cli/good')).toBe(2);
});

test('one that is rolled back or rejected is status 1, one that is canceled 2', async () => {
  await seedPrompt(service.call, 'cli/ends');
  for (const [policy, control, expected] of [
    ['slow.json', 'rollback', 1],
    ['asks.yaml', 'reject', 1],
    ['slow.json', 'cancel', 2],
  ] as const) {
    // The latest version by default.
    const started = await start('cli/ends', policy, '--json');
    expect([started.status, started.stderr]).toEqual([0, '']);
    const { id } = JSON.parse(started.stdout);
    if (control === 'reject') await untilRelease(service.call, id, ({ status }) => status === 'awaiting_approval');
    const done = await cli.pms(['release', control, id, '--comment', 'no']);
    expect([control, done.status]).toEqual([control, 0]);
    expect((await cli.pms(['release', 'status', id])).status).toBe(0);
    const waited = await cli.pms(['release', 'status', id, '--wait']);
    expect([control, waited.status]).toEqual([control, expected]);
    expect(waited.stderr).toContain('no');
  }
  expect((await cli.pms(['release', 'list', '--prompt', 'cli/ends'])).stdout.trim().split('\n')).toHaveLength(3);
});

test('a release is paused, resumed, approved and promoted', async () => {
  await seedPrompt(service.call, 'cli/controls');
  const { id } = JSON.parse((await start('cli/controls', 'slow.json', '--json')).stdout);
  for (const [control, status] of [
    ['pause', 'paused'],
    ['resume', 'in_progress'],
    ['promote', 'succeeded'],
  ] as const)
    expect(JSON.parse((await cli.pms(['release', control, id, '--json'])).stdout).status).toBe(status);
  await seedPrompt(service.call, 'cli/approved');
  const asked = JSON.parse((await start('cli/approved', 'asks.yaml', '--json')).stdout);
  expect((await cli.pms(['release', 'approve', asked.id, '--wait'])).status).toBe(0);
});

test('an admin promotes with a reason if the label moves only by releases', async () => {
  const { call } = service;
  await call('PUT', '/labels/guarded', { body: { release: { steps: [{ type: 'approve' }], required: true } } });
  await seedPrompt(call, 'cli/guarded', undefined, 'guarded');
  const promote = ['prompts', 'promote', 'cli/guarded', '--to', 'guarded', '--version'];
  expect((await cli.pms([...promote, '2'])).stderr).toContain('moves only by releases');
  const started = await cli.pms(['release', 'start', 'cli/guarded', '--label', 'guarded', '--json']);
  const { id } = JSON.parse(started.stdout);
  expect((await cli.pms(['release', 'promote', id])).stderr).toContain('these are not done: approve');
  const promoted = await cli.pms(['release', 'promote', id, '--override', 'an outage', '--json']);
  expect(JSON.parse(promoted.stdout).status).toBe('succeeded');
  expect((await cli.pms([...promote, '1', '--override', 'it was not better'])).status).toBe(0);
});

test('errors are status 2', async () => {
  await seedPrompt(service.call, 'cli/wrong');
  for (const args of [
    ['release', 'start', 'cli/wrong', '--label', 'production'],
    ['release', 'start', 'cli/none', '--label', 'production', '--policy', 'quick.yaml'],
    ['release', 'start', 'cli/wrong', '--label', 'production', '--policy', 'none.yaml'],
    ['release', 'start', 'cli/wrong', '--policy', 'quick.yaml'],
    ['release', 'status', 'rel_x'],
  ]) {
    const { status, stderr } = await cli.pms(args);
    expect([args, status, stderr === '']).toEqual([args, 2, false]);
  }
});
