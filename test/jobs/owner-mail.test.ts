import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setWorkspaceOwner } from '../../src/services/workspaces/workspaces.ts';
import { type RunningWorkers, startWorkers } from '../../src/worker.ts';
import { type MailServer, reply, startMailServer } from '../mail/mail-server.ts';
import { answering, type Receiver, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

let mails: MailServer;
/** Responses to recipients, in order; after these, mail is accepted. */
const refusals: Error[] = [];
let receiver: Receiver;
let service: TestService;
let workers: RunningWorkers;
beforeAll(async () => {
  mails = await startMailServer({ onRcptTo: (_address, _session, done) => done(refusals.shift()) });
  receiver = await startReceiver(answering(500));
  service = await startTestService(
    {
      SMTP_URL: `smtp://${mails.address}`,
      MAIL_FROM: 'Prompts <prompts@example.org>',
      WEBHOOK_RETRY_WAITS: '50ms,50ms,50ms,50ms,50ms',
    },
    { workers: false },
  );
  workers = await startWorkers(service.dependencies, { reconcileEveryMs: 200 });
  await setWorkspaceOwner(service.dependencies.db.system, 'default', 'ada@example.com');
});
afterAll(async () => {
  await workers?.stop();
  await service?.stop();
  await receiver?.close();
  await mails?.close();
});

test('the owner gets one e-mail when a webhook is disabled, even if the mail server is busy at first', async () => {
  refusals.push(reply(451, 'busy'));
  const url = `${receiver.url}/secret-path?token=secret-query`;
  const { body: webhook } = await service.call('POST', '/webhooks', { body: { url, events: ['prompt.created'] } });
  const prompt = { name: 'greet', template: 'Hi', model: 'sandbox/echo' };
  expect((await service.call('POST', '/prompts', { body: prompt })).status).toBe(201);
  await receiver.got(6);
  await waitFor('the refusal', async () => {
    // The next attempt would be 10 s later.
    const refused = await service.dependencies.db.system.query({
      text: `update notifications set check_at = now() where email_pending and email_error like '%busy%' returning id`,
    });
    return refused.length > 0;
  });
  await waitFor('the mail', async () => mails.received.length > 0);
  const [mail] = mails.received;
  const content = mail?.content.replaceAll('=\r\n', '') ?? '';
  expect(mail?.to).toEqual(['ada@example.com']);
  expect(content).toContain(webhook.id);
  expect(content).toContain(`(${new URL(url).host})`);
  expect(content).not.toMatch(/secret-path|secret-query/);
  const stored = await waitFor('the note of it', async () => {
    const [row] = await service.dependencies.db.system.query({
      text: 'select emailed_at, email_error from notifications',
    });
    return row?.['emailed_at'] && row;
  });
  expect(stored).toMatchObject({ email_error: null });
  expect(mails.received).toHaveLength(1);
  const scraped = await service.dependencies.registry.metrics();
  for (const line of [
    'pms_webhook_attempts_total{outcome="failed"} 6',
    'pms_webhook_deliveries_total{outcome="failed"} 1',
    'pms_webhooks_disabled_total 1',
    'pms_webhooks_disabled 1',
    'pms_webhook_deliveries_waiting{status="waiting"} 0',
  ])
    expect(scraped).toContain(`${line}\n`);
});
