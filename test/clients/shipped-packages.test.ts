import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installedTools } from '../../scripts/installed-tools.ts';
import { run } from '../../scripts/python.ts';
import { otherRuntimes } from '../../scripts/runtimes.ts';
import { projectVersion } from '../../src/version.ts';
import { claimsOf } from '../docs/claims.ts';
import { ownBlocks } from '../support/guides.ts';
import { PROJECT } from '../support/processes.ts';

// The packages as they are handed out, in an unrelated project.

const VERSION = projectVersion();
const CLIENT = `pms-client-${VERSION}.tgz`;
const CLI = `pms-cli-${VERSION}.tgz`;

const own = ownBlocks(claimsOf('test/clients/shipped-packages.test.ts'));

let folder: string;
let project: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'pms-packages-'));
  project = path.join(folder, 'project');
  mkdirSync(project);
  writeFileSync(path.join(project, 'package.json'), '{"private": true}');
  await success(
    'npm',
    ['pack', '--workspace', 'clients/typescript', '--workspace', 'cli', '--pack-destination', folder],
    {
      cwd: PROJECT,
    },
  );
  const files = [CLIENT, CLI].map((file) => path.join(folder, file));
  await success('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], { cwd: project });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of a program. @throws Error with it if the program failed */
async function success(...args: Parameters<typeof run>): Promise<string> {
  const { code, output } = await run(...args);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}:\n${output}`);
  return output;
}

test('they have a README, and the licence of the project', () => {
  const licence = readFileSync(path.join(PROJECT, 'LICENSE'), 'utf8');
  for (const name of ['pms-client', 'pms-cli']) {
    const at = (file: string) => readFileSync(path.join(project, 'node_modules', name, file), 'utf8');
    expect([name, at('LICENSE') === licence]).toEqual([name, true]);
    expect(at('README.md')).toContain(`# ${name}`);
  }
  expect(readFileSync(path.join(PROJECT, 'clients/python/LICENSE'), 'utf8')).toBe(licence);
});

test("the client's exports and types are right for every kind of importer", async () => {
  const tools = await installedTools('package-checks');
  const file = path.join(folder, CLIENT);
  expect(await success(process.execPath, [`${tools}/publint/src/cli.js`, file, '--strict'])).toContain('All good');
  expect(await success(process.execPath, [`${tools}/@arethetypeswrong/cli/dist/index.js`, file])).toContain(
    'No problems found',
  );
});

const PROGRAM = `
import { Pms, type WebhookEvent, webhooks } from 'pms-client';

const pms: Pms = new Pms({ baseUrl: 'http://127.0.0.1:9', apiKey: 'pms_x', retryForMs: 0 });
export const costOf = (event: WebhookEvent): string | null =>
  event.event === 'execution.completed' ? event.data.cost.amount : event.event === 'prompt.created' ? event.data.model : null;
pms.execute({ prompt_name: 'x' }).catch((error: { code: string }) => console.log(error.code, typeof webhooks.verify));
`;

test.each(['mts', 'cts'])('a program of type .%s compiles against the client and runs', async (type) => {
  writeFileSync(path.join(project, `main.${type}`), PROGRAM);
  const tsc = path.join(PROJECT, 'node_modules/.bin/tsc');
  const lib = ['--lib', 'es2024,dom', '--types', ''];
  await success(tsc, ['--module', 'nodenext', '--strict', '--target', 'es2022', ...lib, `main.${type}`], {
    cwd: project,
  });
  expect(await success(process.execPath, [`main.${type.replace('ts', 'js')}`], { cwd: project })).toBe(
    'connection_failed function\n',
  );
});

test('the command line runs where it is installed, and names the Node.js it needs', async () => {
  const program = path.join(project, 'node_modules/pms-cli/bin/pms.js');
  expect(await success(process.execPath, [program, '--version'])).toBe(`${VERSION}\n`);
  expect(await success(process.execPath, [program, 'import', '--help'])).toContain('Usage: pms import');
  const runtimes = await otherRuntimes();
  // There are packages of other versions for Linux only.
  if (runtimes === undefined) return expect(process.platform).not.toBe('linux');
  const { code, output } = await run(runtimes.node18, [program, '--version']);
  expect([code, output]).toEqual([
    2,
    expect.stringMatching(/^pms needs Node\.js 20\.12 or newer\. This is 18\.[\d.]+\.\n$/),
  ]);
  const clone = await run(runtimes.node20, [path.join(PROJECT, 'cli/bin/pms.js'), '--version']);
  expect([clone.code, clone.output]).toEqual([2, expect.stringMatching(/^pms needs Node\.js 24\.15 or newer\./)]);
});

test('the command line works on Node.js 20, without a warning', async () => {
  const runtimes = await otherRuntimes();
  if (runtimes === undefined) return expect(process.platform).not.toBe('linux');
  const program = path.join(project, 'node_modules/pms-cli/bin/pms.js');
  const pms = (...args: string[]) => success(runtimes.node20, [program, ...args], { cwd: project });
  expect(await success(runtimes.node20, ['--version'])).toMatch(/^v20\./);
  expect(await pms('--version')).toBe(`${VERSION}\n`);
  // It loads the modules of all commands.
  expect(await pms('complete', 'bash')).toContain('# bash completion for pms');
  mkdirSync(path.join(project, 'prompts'));
  writeFileSync(path.join(project, 'prompts/a.yaml'), 'name: a\nmodel: sandbox/echo\ntemplate: x\n');
  expect(await pms('prompts', 'validate')).toBe('passed: 1 files are valid\n');
  const env = { PMS_BASE_URL: 'http://127.0.0.1:9', PMS_API_KEY: 'pms_x', PMS_RETRY_SECONDS: '0' };
  const { code, output } = await run(runtimes.node20, [program, 'prompts', 'list'], { cwd: project, env });
  expect([code, output]).toEqual([3, expect.stringMatching(/^POST|^GET http:\/\/127\.0\.0\.1:9/)]);
});

test('the pages install the packages as this test does', () => {
  for (const page of ['cli/README.md', 'docs/cli.md', 'docs/clients/typescript.md', 'clients/typescript/README.md'])
    for (const { code } of own.take({ page })) {
      for (const [file] of code.matchAll(/[\w./-]+\.tgz/g)) expect([`./${CLIENT}`, `./${CLI}`, CLIENT]).toContain(file);
      for (const [, of = ''] of code.matchAll(/--workspace (\S+)/g))
        expect(['clients/typescript', 'cli']).toContain(of);
    }
});

test('they name their source, and their installation', () => {
  for (const name of ['pms-client', 'pms-cli']) {
    const at = (file: string) => readFileSync(path.join(project, 'node_modules', name, file), 'utf8');
    const { homepage, bugs, repository, keywords } = JSON.parse(at('package.json'));
    expect([homepage, bugs, repository?.url].every((url) => /https:\/\/github\.com\//.test(url))).toBe(true);
    expect(keywords).toContain('prompts');
    expect(at('README.md')).toContain(`${name}-${VERSION}.tgz`);
  }
});
