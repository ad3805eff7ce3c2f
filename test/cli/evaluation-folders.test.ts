import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService();
  cli = await startCli(service);
  for (const [name, template] of [
    ['good', '{{ x }}'],
    ['bad', 'no {{ x }}'],
  ])
    await service.call('POST', '/prompts', { body: { name, model: 'sandbox/echo', template } });
});
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
});

/** A folder of definitions. @param files prompts by their names */
async function folder(name: string, files: Record<string, string>): Promise<string> {
  for (const [file, prompt] of Object.entries(files)) {
    const at = path.join(cli.folder, name, file);
    await mkdir(path.dirname(at), { recursive: true });
    const examples = [{ id: 'e', variables: { x: '1' }, expected: '1' }];
    await writeFile(at, JSON.stringify({ prompt_name: prompt, examples, evaluators: [{ type: 'exact_match' }] }));
  }
  return name;
}
const run = (place: string, ...args: string[]) => cli.pms(['eval', 'run', place, '--wait', ...args]);
const read = (file: string) => readFile(path.join(cli.folder, file), 'utf8');

test('all definitions of a folder have one verdict, and one report', async () => {
  const place = await folder('evals', { 'a.json': 'good', 'deep/b.yaml': 'bad', 'c.yml': 'good', 'notes.txt': 'bad' });
  const reports = ['junit=j.xml', 'markdown=m.md', 'json=r.json'].flatMap((report) => ['--report', report]);
  const { status, stdout, stderr } = await run(place, ...reports);
  expect(status).toBe(1);
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^evals\/a\.json: passed: The score is 1/),
    expect.stringMatching(/^evals\/c\.yml: passed: /),
    expect.stringMatching(/^evals\/deep\/b\.yaml: failed: The score 0\.0000 is below/),
  ]);
  expect(stderr).toMatch(/failed: 1 of 3 evaluations: evals\/deep\/b\.yaml\.\n$/);
  const xml = await read('j.xml');
  expect(xml).toMatch(/<testsuites name="evals" tests="6" failures="2" errors="0" skipped="0"/);
  expect(xml).toContain('<testsuite name="evals/deep/b.yaml" tests="1" failures="1"');
  expect(await read('m.md')).toMatch(
    /^## ❌ failed: [\s\S]*\| evals\/a\.json \| ✅ passed[\s\S]*### ❌ bad version 1: failed/,
  );
  expect(JSON.parse(await read('r.json'))).toMatchObject({
    verdict: { status: 1, word: 'failed' },
    evaluations: [{ file: 'evals/a.json' }, { file: 'evals/c.yml' }, { verdict: { word: 'failed' }, results: [{}] }],
  });
});

test('if all pass it passes, and JSON agrees', async () => {
  const place = await folder('passing', { 'a.json': 'good', 'b.json': 'good' });
  const { status, stdout } = await run(place, '--json');
  expect([status, JSON.parse(stdout)]).toMatchObject([
    0,
    { verdict: { word: 'passed' }, evaluations: [{ file: 'passing/a.json', evaluation: { passed: true } }, {}] },
  ]);
  const begun = await cli.pms(['eval', 'run', place]);
  expect([begun.status, begun.stdout]).toEqual([0, expect.stringMatching(/^(eval_\S+\n){2}$/)]);
});

test('a refused definition does not keep the others from their verdicts', async () => {
  const place = await folder('refused', { 'a.json': 'none', 'b.json': 'good' });
  const refused = await run(place, '--report', 'junit=r.xml');
  expect([refused.status, refused.stdout]).toEqual([
    2,
    expect.stringMatching(/a\.json: error: [\s\S]*b\.json: passed/),
  ]);
  expect(await read('r.xml')).toContain('errors="1"');
  await folder('refused', { 'c.json': 'bad' });
  expect((await run(place)).status).toBe(1);
});

test('a folder without definitions, and an invalid file, are reported before anything runs', async () => {
  await mkdir(path.join(cli.folder, 'empty'));
  expect(await run('empty')).toMatchObject({ status: 2, stderr: expect.stringContaining('no .yaml or .json file') });
  const before = (await service.call('GET', '/evaluations')).body.data.length;
  await folder('broken', { 'a.json': 'good' });
  await writeFile(path.join(cli.folder, 'broken/b.json'), '{"dataset": "x"}');
  expect(await run('broken')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('broken/b.json: No prompt given'),
  });
  expect((await service.call('GET', '/evaluations')).body.data).toHaveLength(before);
});
