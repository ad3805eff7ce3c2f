import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService();
  cli = await startCli(service);
  for (const [name, model, template] of [
    ['greet', 'sandbox/echo', 'Hello {{ name }}, {{ n }}'],
    ['capital', 'sandbox/fixed', 'What is the capital of {{ country }}?'],
    ['fails', 'sandbox/fail-400', 'x'],
  ])
    await service.call('POST', '/prompts', { body: { name, model, template } });
});
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
});

const at = (file: string) => path.join(cli.folder, file);

test('a prompt is run, with variables of every kind', async () => {
  await writeFile(at('vars.yaml'), 'name: Ada\nn: 1\n');
  const run = async (...args: string[]) => {
    const { status, stdout, stderr } = await cli.pms(['run', 'greet', ...args]);
    return { status, stdout, stderr };
  };
  expect(await run('--var', 'name=Ada', '--var', 'n=a=b')).toEqual({
    status: 0,
    stdout: 'Hello Ada, a=b\n',
    stderr: '',
  });
  expect((await run('--vars', 'vars.yaml', '--var-json', 'n={"a":1}')).stdout).toBe('Hello Ada, {"a":1}\n');
  expect((await run('--vars', 'vars.yaml', '--stream')).stdout).toBe('Hello Ada, 1\n');
  expect(JSON.parse((await run('--vars', 'vars.yaml', '--json')).stdout)).toMatchObject({ status: 'completed' });
  expect(await run('--var', 'name=Ada')).toMatchObject({ status: 2, stderr: expect.stringContaining('variables.n') });
  expect(await run('--var', 'name')).toMatchObject({ status: 2 });
  expect(await run('--var-json', 'n={')).toMatchObject({ status: 2 });
});

test('a run that fails is status 3', async () => {
  for (const args of [
    ['run', 'fails'],
    ['run', 'fails', '--stream'],
    ['run', 'fails', '--json'],
  ]) {
    const { status, stderr } = await cli.pms(args);
    expect([args, status, stderr]).toEqual([args, 3, expect.stringContaining('failed: model_invalid_request')]);
  }
});

test('datasets go up and down', async () => {
  await writeFile(at('d.csv'), 'id,country,expected\nfr,France,Paris\njp,Japan,Tokyo\n');
  expect(await cli.pms(['datasets', 'push', 'capitals', 'd.csv'])).toMatchObject({
    status: 0,
    stdout: 'capitals: version 1, 2 examples\n',
  });
  await cli.pms(['datasets', 'pull', 'capitals', '--out', 'd.jsonl']);
  const lines = (await readFile(at('d.jsonl'), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(['fr', 'jp']);
  const { stdout } = await cli.pms(['datasets', 'pull', 'capitals', '--format', 'csv']);
  expect(stdout.split('\n')[0]).toContain('country');
  expect((await cli.pms(['datasets', 'push', 'capitals', 'd.jsonl'])).stdout).toBe('capitals: version 2, 2 examples\n');
  await writeFile(at('more.tsv'), 'ID\tcountry\tExpected\nfr\tFrance\tLyon\nit\tItaly\tRome\n');
  expect(await cli.pms(['datasets', 'add', 'capitals', 'more.tsv'])).toMatchObject({
    status: 0,
    stdout: 'capitals: version 3, 3 examples (1 added, 1 replaced, 0 unchanged)\n',
  });
  expect((await cli.pms(['datasets', 'add', 'capitals', 'more.tsv'])).stdout).toBe(
    'capitals: nothing to add, version 3 has these examples already\n',
  );
});

test('invalid datasets are refused, naming the line', async () => {
  await writeFile(at('bad.jsonl'), '{"variables":{}}\nnothing\n');
  expect(await cli.pms(['datasets', 'push', 'bad', 'bad.jsonl'])).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^Line 2: is not valid JSON/),
  });
  expect((await cli.pms(['datasets', 'push', 'bad', 'bad.txt'])).status).toBe(2);
  expect((await cli.pms(['datasets', 'push', 'bad', 'none.csv'])).status).toBe(2);
  await writeFile(at('large.csv'), '');
  await truncate(at('large.csv'), 256 * 1024 * 1024 + 1);
  const large = await cli.pms(['datasets', 'push', 'bad', 'large.csv']);
  expect([large.status, large.stderr]).toEqual([2, expect.stringContaining('268435457 bytes')]);
});

test('usage is shown', async () => {
  const usage = await cli.pms(['usage']);
  expect([usage.status, usage.stdout]).toEqual([0, expect.stringMatching(/executions +greet +sandbox\/echo/)]);
  expect(JSON.parse((await cli.pms(['usage', '--json'])).stdout).data.length).toBeGreaterThan(0);
  expect((await cli.pms(['usage', '--since', 'yesterday'])).status).toBe(2);
});
