import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  cli = await startCli(service);
});
afterEach(() => cli?.remove());

const create = (name: string, body: object = { template: 'Hello {{ name }}' }) =>
  service.call('POST', '/prompts', { body: { name, model: 'sandbox/echo', ...body } });
const latest = async (name: string) => (await service.call('GET', `/prompts/${name}`)).body;
const at = (file: string) => path.join(cli.folder, file);
const read = (file: string) => readFile(at(file), 'utf8');
const write = async (file: string, text: string) => {
  await mkdir(path.dirname(at(file)), { recursive: true });
  await writeFile(at(file), text);
};

test('prompts are listed, shown and promoted', async () => {
  await create('a/one');
  await create('a/two');
  const list = await cli.pms(['prompts', 'list', '--group', 'a']);
  expect(list.stdout.split('\n').map((line) => line.split(/\s+/)[0])).toEqual(['name', 'a/one', 'a/two', '']);
  expect(await cli.pms(['prompts', 'get', 'a/one'])).toMatchObject({
    status: 0,
    stdout: 'name: a/one\nversion: 1\nmodel: sandbox/echo\ntemplate: Hello {{ name }}\n',
  });
  await create('a/one', { template: 'Hi {{ name }}' });
  expect((await cli.pms(['prompts', 'promote', 'a/one', '--to', 'production', '--version', '1'])).stdout).toBe(
    'a/one: production is version 1\n',
  );
  expect((await cli.pms(['prompts', 'promote', 'a/one', '--to', 'staging'])).status).toBe(0);
  expect((await cli.pms(['prompts', 'promote', 'a/one', '--to', 'production', '--label', 'staging'])).status).toBe(0);
  expect((await latest('a/one')).labels).toEqual(['production', 'staging']);
  await create('a/one', { template: 'Hey {{ name }}' });
  expect((await cli.pms(['prompts', 'list', '--group', 'a'])).stdout).toContain('production@2 staging@2');
  const missing = await cli.pms(['prompts', 'get', 'a/none']);
  expect([missing.status, missing.stderr]).toEqual([
    2,
    'The prompt "a/none" does not exist in this workspace. Did you mean "a/one"?\n',
  ]);
});

test('files are pulled, changed and pushed: a version is created only if something differs', async () => {
  await create('b/one');
  await create('b/two');
  expect((await cli.pms(['prompts', 'pull', 'b/one', 'b/two'])).status).toBe(0);
  const text = await read('prompts/b/one.yaml');
  await write('prompts/b/one.yaml', `# Ours.\n${text.replace('Hello', 'Dear')}commit_message: politer\n`);

  const diff = await cli.pms(['prompts', 'diff']);
  expect(diff.status).toBe(1);
  expect(diff.stdout).toContain('--- b/one@1\n+++ prompts/b/one.yaml\n');
  expect(diff.stdout).toContain('-template: Hello {{ name }}\n+template: Dear {{ name }}\n');

  const dry = await cli.pms(['prompts', 'push', '--dry-run']);
  expect([dry.status, dry.stdout]).toEqual([
    0,
    expect.stringContaining('b/one: would be changed\n1 to push, 1 unchanged'),
  ]);
  expect((await latest('b/one')).version).toBe(1);

  const push = await cli.pms(['prompts', 'push']);
  expect([push.status, push.stdout]).toEqual([0, 'b/one: version 2\n1 pushed, 1 unchanged\n']);
  expect(await latest('b/one')).toMatchObject({ version: 2, template: 'Dear {{ name }}', commit_message: 'politer' });
  expect(await read('prompts/b/one.yaml')).toContain('# Ours.\nname: b/one\nversion: 2\n');
  expect((await cli.pms(['prompts', 'push'])).stdout).toBe('0 pushed, 2 unchanged\n');
  expect((await cli.pms(['prompts', 'diff'])).status).toBe(0);
});

test('new prompts are created, includes first', async () => {
  await write('p/a.yaml', 'name: c/main\nmodel: sandbox/echo\ntemplate: "{{> c/part }} {{ x }}"\n');
  await write('p/b.yml', 'name: c/part\nmodel: sandbox/echo\ntemplate: |\n  Several\n  lines.\ntools: []\n');
  const push = await cli.pms(['prompts', 'push', 'p', '-m', 'first']);
  expect([push.stderr, push.status]).toEqual(['', 0]);
  expect(push.stdout).toBe('c/part: created, version 1\nc/main: created, version 1\n2 pushed, 0 unchanged\n');
  expect(await latest('c/part')).toMatchObject({ template: 'Several\nlines.\n', tools: [], commit_message: 'first' });
  expect(await read('p/a.yaml')).toBe(
    'name: c/main\nversion: 1\nmodel: sandbox/echo\ntemplate: "{{> c/part }} {{ x }}"\n',
  );
});

test('tags of other template languages are reported by validate and push, each at its line', async () => {
  await write('prompts/warned.yaml', 'name: warned\nmodel: sandbox/echo\ntemplate: Hello {{ user.name }}\n');
  const warning = /^prompts\/warned\.yaml:3: warning: template has tags .*"\{\{ user\.name \}\}".*\n$/;
  const validate = await cli.pms(['prompts', 'validate']);
  expect([validate.status, validate.stdout]).toEqual([0, 'passed: 1 files are valid\n']);
  expect(validate.stderr).toMatch(warning);
  const push = await cli.pms(['prompts', 'push']);
  expect([push.status, push.stdout]).toEqual([0, 'warned: created, version 1\n1 pushed, 0 unchanged\n']);
  expect(push.stderr).toMatch(warning);
});

test('if the service is newer than the last pull, nothing is pushed', async () => {
  await create('d/one');
  await create('d/two');
  await cli.pms(['prompts', 'pull', 'd/one', 'd/two']);
  for (const name of ['one', 'two'])
    await write(`prompts/d/${name}.yaml`, (await read(`prompts/d/${name}.yaml`)).replace('Hello', 'Ours'));
  await create('d/two', { template: 'Theirs' });
  const push = await cli.pms(['prompts', 'push']);
  expect([push.status, push.stdout]).toEqual([1, '']);
  expect(push.stderr).toContain('prompts/d/two.yaml: the file is of version 1, and the service has version 2');
  expect([(await latest('d/one')).version, (await latest('d/two')).version]).toEqual([1, 2]);
  // A pull does not overwrite local changes.
  const pull = await cli.pms(['prompts', 'pull', 'd/one', 'd/two']);
  expect([pull.status, pull.stderr]).toEqual([1, expect.stringContaining('prompts/d/two.yaml')]);
  expect(await read('prompts/d/two.yaml')).toContain('Ours');
  expect((await cli.pms(['prompts', 'pull', 'd/one', 'd/two', '--force'])).status).toBe(0);
  expect(await read('prompts/d/two.yaml')).toContain('Theirs');
});

test.each(['changed', 'new'])(
  'two pushes of a %s prompt at once: one makes a version, the other says so',
  async (kind) => {
    const name = `e/${kind}`;
    const is = kind === 'new' ? 1 : 2;
    if (kind === 'changed') await create(name);
    const text = `name: ${name}\n${kind === 'changed' ? 'version: 1\n' : ''}model: sandbox/echo\ntemplate: Hello {{ name }}\n`;
    const others = await startCli(service);
    await writeFile(path.join(others.folder, 'e.yaml'), text.replace('Hello', 'Theirs'));
    await write('e.yaml', text.replace('Hello', 'Ours'));
    const [ours, theirs] = await Promise.all([
      cli.pms(['prompts', 'push', 'e.yaml']),
      others.pms(['prompts', 'push', 'e.yaml']),
    ]);
    await others.remove();
    // One was first; the other saw that before it pushed, or was rejected.
    expect([ours.status, theirs.status].toSorted((a, b) => Number(a) - Number(b))).toEqual([0, 1]);
    const told = ours.status === 1 ? ours.stderr : theirs.stderr;
    expect(told).toMatch(
      new RegExp(`someone else created version ${is} of ${name} in the meantime|the service has version ${is}`),
    );
    const { version, template } = await latest(name);
    expect([version, template]).toEqual([is, ours.status === 0 ? 'Ours {{ name }}' : 'Theirs {{ name }}']);
  },
);

test('a late push creates no version and says so', async () => {
  await create('late');
  await write('late.yaml', 'name: late\nversion: 1\nmodel: sandbox/echo\ntemplate: Ours\n');
  // Between the push's read and write, another program is faster.
  const proxied = createServer((request, response) => {
    void (async () => {
      if (request.url === '/v1/prompts') await create('late', { template: 'Theirs' });
      const chunks = await Array.fromAsync(request);
      const { status, body } = await service.call(request.method ?? '', (request.url ?? '').slice('/v1'.length), {
        body: JSON.parse(Buffer.concat(chunks).toString()),
      });
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    })();
  });
  proxied.listen(0, '127.0.0.1');
  await once(proxied, 'listening');
  const { port } = proxied.address() as AddressInfo;
  const push = await cli.pms(['prompts', 'push', 'late.yaml'], { env: { PMS_BASE_URL: `http://127.0.0.1:${port}` } });
  proxied.close();
  expect([push.status, push.stderr]).toEqual([
    1,
    'failed: late.yaml was not pushed: someone else created version 2 of late in the meantime: pull late and apply your change again\n',
  ]);
  expect(await latest('late')).toMatchObject({ version: 2, template: 'Theirs' });
  expect(await read('late.yaml')).toContain('version: 1\n');
});

test('files with impossible fields are named with the line and the field', async () => {
  await write('prompts/good.yaml', 'name: good\nmodel: sandbox/echo\ntemplate: x\n');
  await write('prompts/bad.yaml', 'name: bad\nmodel: sandbox/echo\ntemplate: x\nparameters:\n  temperature: hot\n');
  await write('prompts/twice.yaml', 'name: good\nmodel: sandbox/echo\ntemplate: x\n');
  const validate = await cli.pms(['prompts', 'validate']);
  expect(validate.status).toBe(1);
  expect(validate.stderr).toContain('prompts/bad.yaml:5: parameters.temperature must be a number\n');
  expect(validate.stderr).toContain('prompts/twice.yaml:1: the same name as in prompts/good.yaml');
  const push = await cli.pms(['prompts', 'push']);
  expect([push.status, push.stdout]).toEqual([2, '']);
  expect((await service.call('GET', '/prompts/good')).status).toBe(404);
  expect(await cli.pms(['prompts', 'validate', 'prompts/good.yaml'])).toMatchObject({
    status: 0,
    stdout: 'passed: 1 files are valid\n',
  });
});

test('errors from the service are shown at their line', async () => {
  await write('f.yaml', 'name: f\nmodel: sandbox/echo\n\ntemplate: "{{> nothing }}"\n');
  const push = await cli.pms(['prompts', 'push', 'f.yaml']);
  expect([push.status, push.stderr]).toEqual([
    2,
    'f.yaml:4: template includes "nothing", which does not exist in this workspace\n',
  ]);
});

test('missing files are reported', async () => {
  expect((await cli.pms(['prompts', 'push'])).status).toBe(2);
  await mkdir(at('prompts'));
  const empty = await cli.pms(['prompts', 'push']);
  expect([empty.status, empty.stderr]).toEqual([2, expect.stringContaining('There is no .yaml file in prompts')]);
});

test('with --force the files win: contents are compared, and the files stay unchanged', async () => {
  const text = 'name: forced\nmodel: sandbox/echo\ntemplate: one\n';
  await writeFile(path.join(cli.folder, 'forced.yaml'), text);
  const push = (...args: string[]) => cli.pms(['prompts', 'push', 'forced.yaml', ...args]);
  expect(await push('--force')).toMatchObject({
    status: 0,
    stdout: 'forced: created, version 1\n1 pushed, 0 unchanged\n',
  });
  // A fresh clone has the same file, without a version.
  expect(await push('--force')).toMatchObject({ status: 0, stdout: '0 pushed, 1 unchanged\n' });
  await service.call('PUT', '/prompts/forced', { body: { template: 'changed at the console' } });
  expect(await push()).toMatchObject({ status: 1, stderr: expect.stringContaining('the file says of no version') });
  expect(await push('--force', '--dry-run')).toMatchObject({
    stdout: expect.stringContaining('forced: would be changed'),
  });
  expect(await push('--force')).toMatchObject({ status: 0, stdout: 'forced: version 3\n1 pushed, 0 unchanged\n' });
  expect(await readFile(path.join(cli.folder, 'forced.yaml'), 'utf8')).toBe(text);
  await service.call('DELETE', '/prompts/forced');
  expect(await push('--force')).toMatchObject({ status: 1, stderr: expect.stringContaining('the prompt is archived') });
});
