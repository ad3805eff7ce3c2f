import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { killOrphans } from '../support/processes.ts';
import { answering, type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let receiver: Receiver;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService();
  receiver = await startReceiver();
  cli = await startCli(service);
  for (const [name, model] of [
    ['geo/capital', 'sandbox/echo'],
    ['geo/fails', 'sandbox/fail'],
    ['geo/stalls', 'sandbox/stall'],
  ])
    await service.call('POST', '/prompts', { body: { name, model, template: 'What is {{ x }}?' } });
});
afterEach(killOrphans);
afterAll(async () => {
  await cli?.remove();
  await receiver?.close();
  await service?.stop();
});

/** Runs `pms`, which must succeed. */
async function pms(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await cli.pms(args);
  expect([args, status, stderr]).toEqual([args, 0, '']);
  return stdout;
}
const json = async (...args: string[]) => JSON.parse(await pms(...args, '--json'));
const run = async (prompt: string, wait = 60) => {
  const body = { prompt_name: prompt, variables: { x: 'it' } };
  return (await service.call('POST', '/executions', { body, headers: { Prefer: `wait=${wait}` } })).body.id as string;
};
const write = async (name: string, content: string) => {
  await writeFile(path.join(cli.folder, name), content);
  return name;
};

test('executions are listed, shown, canceled and deleted', async () => {
  const [done, open] = [await run('geo/capital'), await run('geo/stalls', 0)];
  expect(await json('executions', 'list', '--prompt', 'geo/capital')).toMatchObject([
    { id: done, status: 'completed' },
  ]);
  expect(await pms('executions', 'list', '--group', 'geo', '--limit', '5')).toMatch(
    /^execution +status +prompt +model +tokens +cost +ms +created\nexec_\S+ +\w+ +geo\/stalls@1/,
  );
  expect(await pms('executions', 'get', done)).toContain('output: What is it?');
  expect((await json('executions', 'get', done)).output).toBe('What is it?');
  expect(await json('executions', 'cancel', open)).toMatchObject({ id: open, status: 'canceled' });
  expect(await pms('executions', 'delete', done)).toBe(`Deleted ${done}\n`);
  expect((await cli.pms(['executions', 'get', done])).status).toBe(2);
});

test('logs show ended executions, the newest last, and follow new ones, each once', async () => {
  const before = await run('geo/capital');
  const failed = await run('geo/fails');
  const lines = (await pms('logs', '--group', 'geo', '-n', '2')).trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(
      new RegExp(`completed  ${before}  geo/capital@1  sandbox/echo  \\d+\\+\\d+ tokens .*\\d+ ms$`),
    ),
    expect.stringMatching(new RegExp(`failed  ${failed}  geo/fails@1 .*: `)),
  ]);
  expect(await pms('logs', '--status', 'failed', '--json')).toMatch(new RegExp(`^\\{"id":"${failed}"[^\n]*\\}\n$`));

  const open = await run('geo/stalls', 0);
  const following = cli.start(['logs', '--follow', '--json']);
  const ids = () => [...following.output().matchAll(/^\{"id":"(exec_[^"]+)"/gm)].map(([, id]) => id);
  const later: string[] = [];
  // Executions that end before the first poll are not reported: create them until one is.
  await waitFor('the first line', async () => {
    later.push(await run('geo/capital'));
    return ids().length > 0;
  });
  await service.call('POST', `/executions/${open}/cancel`);
  const last = await run('geo/fails');
  await waitFor('all that ended', async () => [open, last, later.at(-1) ?? ''].every((id) => ids().includes(id)));
  expect(ids()).not.toContain(before);
  expect(new Set(ids()).size).toBe(ids().length);
  expect(later.slice(later.indexOf(ids()[0] ?? '')).every((id) => ids().includes(id))).toBe(true);
  following.interrupt();
  expect((await following.ended).signal).toBe('SIGINT');
});

test('webhooks are created, tested, redelivered, disabled and deleted', async () => {
  const created = await cli.pms([
    'webhooks',
    'create',
    receiver.url,
    '--events',
    'prompt.created',
    '--header',
    'X-Team: geo',
  ]);
  expect([created.status, created.stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
  const id = /wh_[0-9a-f-]+/.exec(created.stderr)?.[0] ?? '';
  expect(await json('webhooks', 'list')).toMatchObject([{ id, events: ['prompt.created'], header_names: ['X-Team'] }]);
  expect(await pms('webhooks', 'get', id)).toContain(`url: ${receiver.url}`);
  expect(await json('webhooks', 'test', id)).toMatchObject({ status: 'delivered', event: 'prompt.created' });
  const [request] = await receiver.got(1);
  expect(request?.headers).toMatchObject({ 'x-team': 'geo', 'x-webhook-test': 'true' });

  receiver.respond = answering(500);
  const failed = await cli.pms(['webhooks', 'test', id, '--event', 'prompt.updated']);
  expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining('HTTP 500')]);
  receiver.respond = answering(200);
  const [delivery] = await json('webhooks', 'deliveries', id, '--status', 'failed');
  expect(await pms('webhooks', 'delivery', delivery.id)).toContain('status: 500');
  const again = await cli.pms(['webhooks', 'redeliver', delivery.id]);
  expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('This was a test')]);

  await service.call('POST', '/prompts', { body: { name: 'hooked', model: 'sandbox/echo', template: 'x' } });
  const [, , event] = await receiver.got(3);
  const [first] = await json('webhooks', 'deliveries', id, '--event', 'prompt.created', '--limit', '1');
  expect(await json('webhooks', 'redeliver', first.id)).toMatchObject({ event: 'prompt.created' });
  const [, , , repeated] = await receiver.got(4);
  expect(repeated?.headers['x-event-id']).toBe(event?.headers['x-event-id']);
  expect(await json('webhooks', 'replay', id, '--since', '2026-01-01T00:00:00Z')).toMatchObject({
    replayed: expect.any(Number),
  });
  expect(await json('webhooks', 'rotate-secret', id)).toMatchObject({ id, secret: expect.stringMatching(/^whsec_/) });
  expect(await json('webhooks', 'disable', id)).toMatchObject({ id, status: 'disabled' });
  expect(await json('webhooks', 'enable', id)).toMatchObject({ id, status: 'enabled' });
  expect(await pms('webhooks', 'delete', id)).toBe(`Deleted ${id}\n`);
  expect(await json('webhooks', 'list')).toEqual([]);
  for (const args of [
    ['webhooks', 'create', receiver.url, '--events', 'prompt.none'],
    ['webhooks', 'create', receiver.url, '--header', 'none'],
    ['webhooks', 'create', 'ftp://x'],
    ['webhooks', 'get', id],
  ])
    expect([args, (await cli.pms(args)).status]).toEqual([args, 2]);
});

test('schedules run the evaluation of a file', async () => {
  await service.call('PUT', '/datasets/geo', {
    raw: '{"id":"a","variables":{"x":"1"},"expected":"1"}\n',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const file = await write(
    'nightly.yaml',
    'prompt_name: geo/capital\ndataset: geo\nevaluators:\n  - type: exact_match\n',
  );
  const schedule = await json('schedules', 'create', file, '--cron', '0 6 * * *', '--time-zone', 'Europe/Berlin');
  expect(schedule).toMatchObject({ name: 'nightly', cron: '0 6 * * *', time_zone: 'Europe/Berlin', paused: false });
  expect(await pms('schedules', 'list')).toMatch(/nightly +0 6 \* \* \* Europe\/Berlin +active +20\d\d-\S+ +–\n/);
  await pms('schedules', 'pause', schedule.id);
  expect(await json('schedules', 'get', schedule.id)).toMatchObject({ paused: true });
  await pms('schedules', 'resume', schedule.id);
  await pms('schedules', 'trigger', schedule.id);
  await waitFor('the evaluation', async () => (await service.call('GET', '/evaluations')).body.data.length === 1);
  expect(await pms('schedules', 'delete', schedule.id)).toBe(`Deleted ${schedule.id}\n`);
  expect(await json('schedules', 'list')).toEqual([]);
  expect((await cli.pms(['schedules', 'create', file, '--cron', 'never'])).status).toBe(2);
});

test('keys are made, and shown once; revoked, they open nothing', async () => {
  const made = await cli.pms(['keys', 'create', 'ci', '--scopes', 'read,execute', '--expires-in-days', '30']);
  const key = made.stdout.trim();
  const id = /key_[0-9a-f-]+/.exec(made.stderr)?.[0] ?? '';
  expect([made.status, (await service.call('GET', '/api-keys/current', { key })).body.scopes]).toEqual([
    0,
    ['read', 'execute'],
  ]);
  const all = await json('keys', 'list');
  expect(all).toContainEqual(expect.objectContaining({ id, name: 'ci', expires_at: expect.stringMatching(/^20/) }));
  expect(JSON.stringify(all)).not.toContain(key);
  expect(await pms('keys', 'list')).toMatch(new RegExp(`${id} +ci +\\w+ +valid +read execute`));
  expect(await pms('keys', 'revoke', id)).toBe(`${id} is revoked\n`);
  expect((await service.call('GET', '/api-keys/current', { key })).status).toBe(401);
  expect(await pms('keys', 'list')).toMatch(new RegExp(`${id} +ci +\\w+ +revoked`));
  for (const args of [
    ['keys', 'create', 'x'],
    ['keys', 'create', 'x', '--scopes', 'all'],
    ['keys', 'list', '--personal'],
  ])
    expect([args, (await cli.pms(args)).status]).toEqual([args, 2]);
});

test('queues are set from a file, and deleted', async () => {
  const file = await write('queue.yaml', 'name: geo/review\nscore_names: [helpful]\n');
  expect(await json('queues', 'set', file)).toMatchObject({ name: 'geo/review', score_names: ['helpful'] });
  expect(await pms('queues', 'delete', 'geo/review')).toBe('Deleted geo/review\n');
  expect(await json('queues', 'list')).toEqual([]);
});

test('any request can be made: fields, a body, all pages, and refusals', async () => {
  const name = 'api/greeting';
  const created = await pms(
    'api',
    'POST',
    '/v1/prompts',
    '-f',
    `name=${name}`,
    '-f',
    'template=Hello',
    '-f',
    'model=sandbox/echo',
    '-F',
    'parameters={"temperature":0.5}',
  );
  expect(JSON.parse(created)).toMatchObject({ name, version: 1, parameters: { temperature: 0.5 } });
  expect(JSON.parse(await pms('api', 'get', `prompts/${encodeURIComponent(name)}`))).toMatchObject({ name });
  const label = await cli.pms(['api', 'PUT', `/v1/prompts/${name}/labels/production`, '--input', '-'], {
    input: '{"version": 1}',
  });
  expect([label.status, label.stderr]).toEqual([0, '']);
  const page = JSON.parse(await pms('api', 'GET', '/v1/prompts', '-f', 'limit=1', '-f', 'label=production'));
  expect(page.data).toMatchObject([{ name }]);
  const names = JSON.parse(await pms('api', 'GET', 'prompts', '-f', 'limit=1', '--paginate')).map(
    (each: { name: string }) => each.name,
  );
  expect(names.toSorted()).toEqual([name, 'geo/capital', 'geo/fails', 'geo/stalls', 'hooked']);
  expect(await pms('api', 'GET', 'datasets/geo/export')).toContain('"expected":"1"');

  const refused = await cli.pms(['api', 'GET', 'prompts/none']);
  expect([refused.status, JSON.parse(refused.stdout)]).toMatchObject([2, { error: { code: 'not_found' } }]);
  const repeated = [
    'api',
    'POST',
    'executions',
    '-f',
    `prompt_name=${name}`,
    '-H',
    'Idempotency-Key: one',
    '-H',
    'Prefer: wait=60',
  ];
  expect(JSON.parse(await pms(...repeated)).id).toBe(JSON.parse(await pms(...repeated)).id);
  for (const args of [
    ['api', 'GET', 'https://example.com/v1/prompts'],
    ['api', 'GET', '//example.com/v1/prompts'],
    ['api', 'GET', 'prompts/geo/capital', '--paginate'],
    ['api', 'POST', 'prompts', '--input', 'queue.yaml', '-f', 'a=b'],
    ['api', 'POST', 'prompts', '-f', 'name'],
    ['api', 'POST', 'prompts', '-F', 'name=x'],
    ['api', 'P OST', 'prompts'],
  ])
    expect([args, (await cli.pms(args)).status]).toEqual([args, 2]);
});
