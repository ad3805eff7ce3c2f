import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { blocksOf, ownBlocks } from '../support/guides.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { claimsOf } from './claims.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const own = ownBlocks(claimsOf('test/docs/clients.test.ts'));

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  folder = await mkdtemp(path.join(tmpdir(), 'pms-docs-'));
  await mkdir(path.join(folder, '.data'));
  await writeFile(path.join(folder, '.data/first-api-key'), service.key);
  for (const template of ['Greet {{ name }}.', 'Greet {{ name }} warmly.'])
    await service.call('POST', '/prompts', { body: { name: 'support/greeting', template, model: 'sandbox/echo' } });
  await service.call('PUT', '/prompts/support/greeting/labels/production', { body: { version: 2 } });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await service?.stop();
});

test("the README's sample in TypeScript runs by the command beside it, from the folder of the service", async () => {
  const [source] = blocksOf('README.md').filter(({ language }) => language === 'ts');
  const [, command = ''] = /`(npx node [^`]+)`/.exec(await readFile(path.join(root, 'README.md'), 'utf8')) ?? [];
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  await writeFile(
    path.join(folder, 'greet.ts'),
    source?.code.replaceAll('http://127.0.0.1:3000', service.origin) ?? '',
  );
  const { stdout } = await run('bash', ['-c', command.replace('npx node', process.execPath)], { cwd: folder });
  expect(stdout).toBe('Greet Ada warmly.\nGreet Ada warmly.\n');
});

test('the examples of the page on the TypeScript client run', async () => {
  await service.call('POST', '/prompts', {
    body: { name: 'geo/capital', template: '{{ country }}', model: 'sandbox/fixed' },
  });
  const file = 'country,expected\nFrance,Paris\n';
  await service.call('PUT', '/datasets/geo/capitals', { raw: file, headers: { 'Content-Type': 'text/csv' } });
  const secret = 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz';
  const body = JSON.stringify({
    event: 'execution.completed',
    data: { cost: null },
    timestamp: new Date().toISOString(),
  });
  const signature = new Webhook(secret).sign('evt_1', new Date(), body);
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
    'webhook-signature': signature,
  };
  // Definitions that the page assumes.
  const given = { baseUrl: service.origin, apiKey: service.key, file, request: { headers }, body, secret };
  const [first = '', ...others] = own.take({ page: 'docs/clients/typescript.md' }).map(({ code }) => code);
  expect(others.length).toBeGreaterThan(3);
  // The later ones build on the first one, in separate scopes.
  const scopes = others.map((block) => `{\n${block.replace(/^import .*\n/gm, '')}}\n`);
  const imports = "import { NotFoundError, SignatureError, webhooks } from 'pms-client';\n";
  const constants = Object.entries(given).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`);
  const source = [imports, 'const log = console;\n', ...constants, first, ...scopes, 'console.log("all of it ran");\n'];
  expect(await runTypeScript(source.join(''))).toMatch(/all of it ran\n$/);
});

/** Runs a program written for the service of `npm start`. @returns its output */
async function runTypeScript(source: string): Promise<string> {
  const file = path.join(root, '.cache', `example-${process.pid}.ts`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, source.replaceAll('http://127.0.0.1:3000', service.origin));
  try {
    const env = { PATH: process.env['PATH'], PMS_BASE_URL: service.origin, PMS_API_KEY: service.key };
    const { stdout } = await run(process.execPath, ['--conditions=pms-source', file], { env });
    return stdout;
  } finally {
    await rm(file);
  }
}
