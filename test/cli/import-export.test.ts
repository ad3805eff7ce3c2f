import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createOtherWorkspace } from '../api/workspace.ts';
import type { Call } from '../support/service.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

const fixture = (name: string) => fileURLToPath(new URL(`importers/fixtures/${name}`, import.meta.url));

let service: TestService;
let cli: Cli;
let call: Call;
let workspaces = 0;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  const other = await createOtherWorkspace(service, `imported-${workspaces++}`);
  call = other.call;
  cli = await startCli({ origin: service.origin, key: other.key });
});
afterEach(() => cli?.remove());

test('a deleted version is replaced, so that the others keep their numbers', async () => {
  const other = await createOtherWorkspace(service, 'with-gaps');
  const from = await startCli({ origin: service.origin, key: other.key });
  for (const template of ['one', 'two', 'three', 'four'])
    await other.call('POST', '/prompts', { body: { name: 'gap', model: 'sandbox/echo', template } });
  await other.call('POST', '/prompts', { body: { name: 'pin', model: 'sandbox/echo', template: '{{> gap@3 }}' } });
  await other.call('PUT', '/prompts/gap/labels/live', { body: { version: 3 } });
  for (const version of [1, 2])
    expect((await other.call('DELETE', `/prompts/gap/versions/${version}`)).status).toBe(200);
  expect(await from.pms(['export', 'all'])).toMatchObject({ status: 0, stderr: '' });
  expect(await cli.pms(['import', 'pms', path.join(from.folder, 'all')])).toMatchObject({ status: 0, stderr: '' });
  expect((await call('GET', '/prompts/gap?label=live')).body).toMatchObject({ version: 3, template: 'three' });
  expect((await call('GET', '/prompts/gap')).body).toMatchObject({ version: 4, template: 'four' });
  expect((await call('GET', '/prompts/pin')).body.template).toBe('{{> gap@3 }}');
  await from.remove();
});

test('pms import pms restores the output of pms export, and then nothing is left to do', async () => {
  const from = await startCli(service);
  const create = (body: object) => service.call('POST', '/prompts', { body: { model: 'sandbox/echo', ...body } });
  await create({ name: 'x/part', template: 'Part.\n' });
  await create({ name: 'x/main', template: '{{> x/part }} {{ y }}', commit_message: 'one' });
  await create({ name: 'x/main', template: 'Two {{ y }}' });
  await service.call('PUT', '/prompts/x/main/labels/production', { body: { version: 1 } });
  await service.call('PUT', '/datasets/x/data', {
    raw: '{"id":"1","variables":{"y":"z"}}\n',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const folder = path.join(from.folder, 'all');
  const exported = await from.pms(['export', 'all']);
  expect([exported.status, exported.stdout]).toEqual([
    0,
    'all: 2 prompts with 3 versions, 1 datasets with 1 examples\n',
  ]);
  expect((await from.pms(['export', 'all'])).status).toBe(2);

  const dry = await cli.pms(['import', 'pms', folder, '--dry-run']);
  expect([dry.status, dry.stdout]).toEqual([0, expect.stringContaining('would make prompt x/main: version 2')]);
  expect((await call('GET', '/prompts')).body.data).toEqual([]);

  const imported = await cli.pms(['import', 'pms', folder]);
  expect([imported.status, imported.stderr]).toEqual([0, '']);
  expect((await call('GET', '/prompts/x/main?label=production')).body).toMatchObject({
    version: 1,
    commit_message: 'one',
  });
  expect((await call('GET', '/datasets/x/data')).body).toMatchObject({ version: 1, examples_total: 1 });
  expect((await cli.pms(['import', 'pms', folder])).stdout).toContain('0 steps completed');
  await from.remove();
});

test('an evaluated draft is not part of the output of pms export', async () => {
  const other = await createOtherWorkspace(service, 'with-drafts');
  const exporter = await startCli({ origin: service.origin, key: other.key });
  await other.call('POST', '/prompts', { body: { name: 'kept', model: 'sandbox/echo', template: 'one' } });
  const evaluators = [{ type: 'exact_match' }];
  for (const prompt_name of ['kept', 'never/made']) {
    const draft = { template: 'draft', model: 'sandbox/echo' };
    const body = { prompt_name, draft, examples: [{ variables: {}, expected: 'draft' }], evaluators };
    expect((await other.call('POST', '/evaluations', { body })).status).toBe(201);
  }
  const exported = await exporter.pms(['export', 'all']);
  expect([exported.status, exported.stdout, exported.stderr]).toEqual([
    0,
    'all: 1 prompts with 1 versions, 0 datasets with 0 examples\n',
    '',
  ]);
  expect((await cli.pms(['import', 'pms', path.join(exporter.folder, 'all')])).status).toBe(0);
  expect((await call('GET', '/prompts')).body.data).toMatchObject([{ name: 'kept', version: 1 }]);
  await exporter.remove();
});

test('each item of another product has its line, and evaluations become files to run', async () => {
  const promptfoo = fixture('promptfoo/promptfooconfig.yaml');
  const imported = await cli.pms(['import', 'promptfoo', promptfoo, '--json']);
  const { things, failed, done } = JSON.parse(imported.stdout);
  expect([imported.status, failed]).toEqual([0, []]);
  expect(done).toBeGreaterThan(0);
  const outcomes = new Set(things.map(({ outcome }: { outcome: string }) => outcome));
  expect(outcomes).toContain('left out');
  const evaluation = things.find(
    ({ kind, outcome }: { kind: string; outcome: string }) => kind === 'evaluation' && outcome !== 'left out',
  );
  const file = JSON.parse(await readFile(path.join(cli.folder, 'evaluations', `${evaluation.name}.json`), 'utf8'));
  expect(file).toMatchObject({ prompt_name: expect.any(String), dataset: { name: expect.any(String), version: 1 } });

  const langfuse = await cli.pms(['import', 'langfuse', fixture('langfuse'), '--dry-run', '--model', 'sandbox/echo']);
  expect([langfuse.status, langfuse.stdout]).toEqual([0, expect.stringMatching(/^prompt .*: taken/m)]);
});

test('an invalid import is reported in one line', async () => {
  const run = async (...args: string[]) => {
    const { status, stderr } = await cli.pms(['import', ...args]);
    return [status, stderr.trim().split('\n').length];
  };
  await writeFile(path.join(cli.folder, 'broken.json'), '{');
  expect(await run('langfuse', 'broken.json')).toEqual([2, 1]);
  expect(await run('langfuse', 'nothing')).toEqual([2, 1]);
  expect(await run('pms', '.')).toEqual([2, 1]);
  expect(await run('elsewhere', '.')).toEqual([2, 1]);
  expect(await run('promptfoo', 'https://example.test')).toEqual([2, 1]);
  expect(await run('langfuse', 'https://example.test')).toEqual([2, 1]);
});

test('asserts of promptfoo that run code become a scorer in a folder; another import writes no scorer', async () => {
  const options = [
    '--scorer-project',
    'scorer',
    '--scorer-url',
    'https://scorer.example.com',
    '--judge',
    'sandbox/judge',
  ];
  const command = ['import', 'promptfoo', fixture('promptfoo-code'), ...options];
  const planned = await cli.pms([...command, '--dry-run']);
  expect(planned).toMatchObject({ status: 0, stderr: '' });
  expect(planned.stdout).toContain(`would write: ${path.join('scorer', 'asserts.json')}`);
  await expect(readFile(path.join(cli.folder, 'scorer', 'asserts.json'))).rejects.toThrow('ENOENT');

  const made = await cli.pms(command);
  expect(made).toMatchObject({ status: 0, stderr: '' });
  expect(made.stdout).toContain(`written: ${path.join('scorer', 'server.ts')}`);
  const asserts = JSON.parse(await readFile(path.join(cli.folder, 'scorer', 'asserts.json'), 'utf8'));
  expect(Object.keys(asserts.asserts)).toHaveLength(6);

  const again = await cli.pms(command);
  expect(again).toMatchObject({ status: 0, stderr: '' });
  expect(again.stdout).not.toMatch(/written: |version 2|examples\n/);
  expect(
    await cli.pms(['import', 'promptfoo', fixture('promptfoo-code'), '--scorer-url', 'https://x.example']),
  ).toMatchObject({
    status: 2,
  });
});
