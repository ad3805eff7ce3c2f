import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setWorkspaceOwner } from '../../src/services/workspaces/workspaces.ts';
import { type RunningWorkers, startWorkers } from '../../src/worker.ts';
import { checkNow, putMonitor } from '../api/monitors/monitors-support.ts';
import { type MailServer, startMailServer } from '../mail/mail-server.ts';
import { TEST_KEY } from '../support/providers/models.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

let openai: StandIn;
let mails: MailServer;
let receiver: Receiver;
let service: TestService;
let workers: RunningWorkers;
beforeAll(async () => {
  openai = await startOpenAiServer({ keepCalls: false });
  mails = await startMailServer();
  receiver = await startReceiver();
  service = await startTestService(
    {
      OPENAI_API_KEY: TEST_KEY,
      OPENAI_BASE_URL: openai.baseUrl,
      SMTP_URL: `smtp://${mails.address}`,
      MAIL_FROM: 'Prompts <prompts@example.org>',
    },
    { workers: false },
  );
  workers = await startWorkers(service.dependencies, { reconcileEveryMs: 200 });
  await setWorkspaceOwner(service.dependencies.db.system, 'default', 'ada@example.com');
});
afterAll(async () => {
  await openai?.close();
  await workers?.stop();
  await service?.stop();
  await receiver?.close();
  await mails?.close();
});

const run = () => service.call('POST', '/executions', { body: { prompt_name: 'say', variables: {} } });

test('a failing provider is an alert: to the webhook and the owner once, and again on recovery', async () => {
  const { call, dependencies } = service;
  await call('POST', '/prompts', { body: { name: 'say', template: 'Hi', model: 'openai/gpt-4o-mini' } });
  const events = ['monitor.alerted', 'monitor.recovered'];
  await call('POST', '/webhooks', { body: { url: receiver.url, events } });
  const checks = [{ metric: 'error_rate', above: 0.5, min_executions: 3 }];
  await putMonitor(call, 'say/errors', { prompt_name: 'say', window: '1h', checks });
  await checkNow(dependencies);
  expect((await call('GET', '/monitors/say/errors')).body.state).toBe('no_data');

  openai.behave({ mode: 'fail', status: 401 });
  for (let index = 0; index < 4; index += 1) expect((await run()).body.status).toBe('failed');
  await checkNow(dependencies);
  expect((await call('GET', '/monitors/say/errors')).body).toMatchObject({ state: 'ok', values: [{ value: 1 }] });
  await checkNow(dependencies);
  expect((await call('GET', '/monitors/say/errors')).body).toMatchObject({ state: 'alerting' });
  const [alert] = await receiver.got(1);
  expect(alert?.body).toEqual({
    event: 'monitor.alerted',
    data: {
      monitor: 'say/errors',
      prompt_name: 'say',
      label: null,
      state: 'alerting',
      reason: 'error_rate 1 is above 0.5 (4 in 1 h)',
      values: [{ metric: 'error_rate', value: 1, count: 4, alerting: true }],
    },
    timestamp: expect.any(String),
  });

  openai.behave({});
  for (let index = 0; index < 6; index += 1) expect((await run()).body.status).toBe('completed');
  // The worker's own checks may come in between: they are a minute apart, with the same result.
  for (let index = 0; index < 3; index += 1) await checkNow(dependencies);
  expect((await call('GET', '/monitors/say/errors')).body).toMatchObject({ state: 'ok', values: [{ value: 0.4 }] });
  const received = await receiver.got(2);
  expect(received.map(({ body }) => body.event)).toEqual(events);

  const sent = await waitFor('both mails', async () => (mails.received.length >= 2 ? mails.received : undefined));
  const contents = sent.map(({ content }) => content.replaceAll('=\r\n', ''));
  expect(contents[0]).toContain('Subject: The monitor say/errors alerts');
  expect(contents[0]).toContain('error_rate 1 is above 0.5 (4 in 1 h)');
  expect(contents[0]).toContain('GET /v1/monitors/say/errors/history');
  expect(contents[1]).toContain('Subject: The monitor say/errors has recovered');
  expect(sent.map(({ to }) => to)).toEqual([['ada@example.com'], ['ada@example.com']]);
  for (let index = 0; index < 2; index += 1) await checkNow(dependencies);
  expect([receiver.received.length, mails.received.length]).toEqual([2, 2]);
});
