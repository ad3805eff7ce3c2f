import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildClient } from '../../scripts/build-client.ts';
import { otherRuntimes, type Runtimes } from '../../scripts/runtimes.ts';
import { PROJECT } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

const run = promisify(execFile);

/** A program that uses the published package, and prints its results. */
const PROGRAM = `
import { NotFoundError, Pms, SignatureError, webhooks } from 'pms-client';

const { baseUrl, apiKey, name, signed } = JSON.parse(globalThis.Deno ? Deno.args[0] : process.argv[2]);
const pms = new Pms({ baseUrl, apiKey });
const said = {};
await pms.call('createPrompt', { body: { name, template: 'Greet {{ name }}.', model: 'sandbox/echo' } });
const prompt = await pms.prompts.get(name);
said.compiled = prompt.compile({ name: 'Ada' });
said.output = (await pms.execute({ prompt_name: name, variables: { name: 'Ada' } })).output;
said.streamed = '';
for await (const event of pms.stream({ prompt_name: name, variables: { name: 'Ada' } }))
  if (event.type === 'output_text.delta') said.streamed += event.delta;
said.listed = [];
for await (const { name } of pms.list('listPrompts')) said.listed.push(name);
said.uploaded = (
  await pms.upload('uploadDataset', { path: { name }, body: new Blob(['x\\n1\\n2\\n']) }, 'text/csv')
).examples_total;
said.missing = await pms.prompts.get('none').catch((error) => error instanceof NotFoundError);
const away = new Pms({ baseUrl: 'http://127.0.0.1:9', apiKey, maxRetries: 0 });
said.fallback = (await away.prompts.get(name, { fallback: 'Hello {{ name }}' })).compile({ name: 'Ada' });
said.verified = await webhooks.verify({ ...signed, now: new Date(signed.now * 1000) });
said.forged = await webhooks
  .verify({ ...signed, body: signed.body + ' ', now: new Date(signed.now * 1000) })
  .catch((error) => error instanceof SignatureError);
console.log(JSON.stringify(said));
`;

let service: TestService;
let folder: string;
let runtimes: Runtimes | undefined;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pms-runtimes-'));
  // The package as npm would pack it, and its only dependency.
  const installed = path.join(folder, 'node_modules/pms-client');
  await mkdir(installed, { recursive: true });
  await buildClient(path.join(installed, 'dist'));
  await cp(path.join(PROJECT, 'clients/typescript/package.json'), path.join(installed, 'package.json'));
  const parser = 'node_modules/eventsource-parser';
  await cp(path.join(PROJECT, parser), path.join(folder, parser), { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{"type": "module", "dependencies": {"pms-client": "*"}}');
  await writeFile(path.join(folder, 'main.js'), PROGRAM);
  [runtimes, service] = await Promise.all([otherRuntimes(), startTestService()]);
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const commands = {
  'this Node.js': () => [process.execPath],
  'Node.js 18': (programs?: Runtimes) => programs && [programs.node18],
  Bun: (programs?: Runtimes) => programs && [programs.bun, 'run'],
  Deno: (programs?: Runtimes) =>
    programs && [programs.deno, 'run', '--quiet', '--no-prompt', '--node-modules-dir=manual', '--allow-net=127.0.0.1'],
};

test.each(Object.entries(commands))('the built client runs in %s', async (runtime, commandOf) => {
  const [program = '', ...args] = commandOf(runtimes) ?? [];
  // There are packages of the others for Linux only.
  if (program === '') return expect(process.platform).not.toBe('linux');
  const { received } = JSON.parse(await readFile(path.join(PROJECT, 'test/vectors/signatures.json'), 'utf8'));
  const { body, headers, secret, now } = received.find((vector: { verified: boolean }) => vector.verified);
  const name = `runtimes/${runtime.replace(/\W/g, '-')}`;
  const given = { baseUrl: service.origin, apiKey: service.key, name, signed: { body, headers, secret, now } };
  const { stdout, stderr } = await run(program, [...args, path.join(folder, 'main.js'), JSON.stringify(given)], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  // Nothing responds at that address, which is reported once.
  expect(stderr).toMatch(/^pms-client: prompts cannot be fetched: .*\n$/);
  expect(JSON.parse(stdout)).toEqual({
    compiled: 'Greet Ada.',
    output: 'Greet Ada.',
    streamed: 'Greet Ada.',
    listed: expect.arrayContaining([name]),
    uploaded: 2,
    missing: true,
    fallback: 'Hello Ada',
    verified: JSON.parse(body),
    forged: true,
  });
});
