import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../clients/typescript/src/index.ts';
import { newId } from '../../src/domain/ids.ts';
import { createKey } from '../api/workspace.ts';
import { killOrphans, type Started } from '../support/processes.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { answering, type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let proxy: TcpProxy;
let receiver: Receiver;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  proxy = await startProxy({ host: '127.0.0.1', port: Number(new URL(service.origin).port) });
});
afterAll(async () => {
  await proxy?.close();
  await service?.stop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  cli = await startCli({ origin: `http://127.0.0.1:${proxy.port}`, key: service.key });
});
afterEach(async () => {
  await killOrphans();
  await receiver?.close();
  await cli?.remove();
});

let made = 0;
/** Creates a prompt, whose event is `prompt.created`. */
async function makePrompt(): Promise<string> {
  made += 1;
  const name = `listen/${made}`;
  await service.call('POST', '/prompts', { body: { name, template: 'x', model: 'sandbox/echo' } });
  return name;
}

async function listen(args: string[] = [], env: Record<string, string> = {}): Promise<Started> {
  const started = cli.start(['listen', '--forward-to', receiver.url, ...args], { env });
  await started.says(/Press Ctrl-C to stop/);
  return started;
}

const promptsGot = () => receiver.received.map(({ body }) => body.data.prompt_name);

test('each event arrives once, in order, with the bytes and signatures of a webhook', async () => {
  await makePrompt();
  const listening = await listen();
  const secret = /Signing secret: (whsec_\S+)/.exec(listening.output())?.[1] ?? '';
  const names = [await makePrompt(), await makePrompt(), await makePrompt()];
  await receiver.got(3);
  expect(promptsGot()).toEqual(names);
  const { body: events } = await service.call('GET', '/events?limit=3');
  for (const [index, { headers, raw, body }] of receiver.received.entries()) {
    const { id, ...sent } = events.data[2 - index];
    expect(raw.toString()).toBe(JSON.stringify(sent));
    expect(headers).toMatchObject({ 'x-event-id': id, 'webhook-id': id, 'x-delivery-attempt': '1' });
    expect(await verifyWebhook({ body: raw, headers, secret })).toEqual(body);
    expect(new Webhook(secret).verify(raw, headers as Record<string, string>)).toEqual(body);
  }
  expect(listening.output()).toMatch(/prompt\.created +evt_\S+ +→ +200\n/);
  listening.interrupt();
  expect((await listening.ended).signal).toBe('SIGINT');
});

test('nothing is lost or repeated in a service outage', async () => {
  const listening = await listen();
  const first = await makePrompt();
  await receiver.got(1);
  proxy.cut();
  const missed = [await makePrompt(), await makePrompt()];
  await listening.says(/does not respond .* Retrying/);
  proxy.restore();
  await receiver.got(3);
  const last = await makePrompt();
  await receiver.got(4);
  expect(promptsGot()).toEqual([first, ...missed, last]);
});

test('a missing program is waited for; one that refuses an event is reported, and gets the next', async () => {
  const { port } = new URL(receiver.url);
  await receiver.close();
  const listening = await listen();
  const first = await makePrompt();
  await listening.says(/Nothing responds at http\S+ .* Waiting for it\./);
  receiver = await startReceiver(
    (_request, response) => void response.writeHead(401).end('bad signature'),
    Number(port),
  );
  await listening.says(/→ +401 +bad signature/);
  receiver.respond = answering(200);
  const second = await makePrompt();
  await listening.says(/→ +200/);
  expect(promptsGot()).toEqual([first, second]);
});

test('a custom secret signs, events can be chosen, and those since a time can be included', async () => {
  const secret = 'a-secret-of-the-developer-1';
  const since = new Date(Date.now() - 1000).toISOString();
  const name = await makePrompt();
  const listening = await listen(['--since', since, '--events', 'prompt.updated', '--json'], {
    PMS_WEBHOOK_SECRET: secret,
  });
  expect(listening.output()).not.toContain(secret);
  await service.call('PUT', `/prompts/${name}`, { body: { template: 'y' } });
  const [request] = await receiver.got(1);
  expect(request?.body).toMatchObject({ event: 'prompt.updated', data: { prompt_name: name, version: 2 } });
  expect(await verifyWebhook({ body: request?.raw ?? '', headers: request?.headers ?? {}, secret })).toBeDefined();
  await listening.says(/\{"id":"evt_[^\n]+"response":\{"status":200/);
  expect(receiver.received).toHaveLength(1);

  const shown = cli.start(['listen', '--since', since]);
  await shown.says(/prompt\.created[\s\S]*prompt\.updated/);
});

test('an event that becomes visible after newer ones is not lost', async () => {
  await listen();
  const early = await makePrompt();
  await receiver.got(1);
  const { query } = service.dependencies.db.system;
  // As left by a transaction that started a while ago and commits now.
  await query({
    text: `insert into events (workspace_id, id, type, data, test, created_at)
      select workspace_id, '${newId()}', type, jsonb_set(data::jsonb, '{prompt_name}', '"late"')::json, false,
        created_at - interval '20 seconds' from events
      where data->>'prompt_name' = '${early}'`,
  });
  await waitFor('the late event', async () => promptsGot().includes('late'));
  const last = await makePrompt();
  await receiver.got(3);
  expect(promptsGot()).toEqual([early, 'late', last]);
});

test('an error ends it with status 2', async () => {
  const { key } = await createKey(service, 'execute');
  for (const [args, env] of [
    [['--forward-to', 'localhost:3000'], {}],
    [['--events', 'prompt.none'], {}],
    [['--since', 'yesterday'], {}],
    [['--forward-to', receiver.url], { PMS_WEBHOOK_SECRET: 'short' }],
    [[], { PMS_API_KEY: key }],
  ] as const) {
    const { status, stderr } = await cli.pms(['listen', ...args], { env });
    expect([args, status, stderr === '']).toEqual([args, 2, false]);
  }
});
