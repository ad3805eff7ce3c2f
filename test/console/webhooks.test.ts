import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answering, type Receiver, startReceiver } from '../support/receiver.ts';
import { waitFor } from '../support/wait-for.ts';
import { problemsOf } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  stage = await startStage();
});
afterAll(async () => {
  await stage?.stop();
  await receiver?.close();
});

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

const HOSTILE = '<img src=x onerror="window.wasRun = 1"><b>bold</b>';

test('a webhook is made, tested, changed, disabled and enabled; its deliveries are read and resent', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/webhooks'));
  await page.getByRole('button', { name: 'New webhook…' }).click();
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByLabel('URL').fill(receiver.url);
  await form.getByLabel('execution.completed').uncheck();
  await form.getByLabel('Custom headers').fill('X-Tenant: acme');
  await form.getByRole('button', { name: 'Create' }).click();
  const secret = page.getByRole('dialog', { name: 'The signing secret' });
  expect(await secret.locator('pre').textContent()).toMatch(/^whsec_/);
  await secret.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { name: receiver.url, level: 1 }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.getByText('whsec_').count()).toBe(0);

  receiver.respond = (_request, response) => void response.writeHead(500).end(HOSTILE);
  await page.getByRole('button', { name: 'Send a test' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery' });
  await delivery.getByText('failed', { exact: true }).waitFor();
  await delivery.getByRole('heading', { name: 'Attempt 1 500' }).waitFor();
  await delivery.getByText(HOSTILE).waitFor();
  expect(await page.evaluate('"wasRun" in window')).toBe(false);
  expect(receiver.received[0]?.headers['x-tenant']).toBe('acme');
  receiver.respond = answering(200);
  await delivery.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Status').selectOption('failed');
  await page.getByRole('cell', { name: 'failed' }).waitFor();
  await page.getByLabel('Status').selectOption('delivered');
  await page.getByText('No deliveries match these filters').waitFor();

  await page.getByRole('button', { name: 'Edit…' }).click();
  await page.getByRole('dialog').getByLabel('Description').fill('For tests');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('For tests').waitFor();
  await page.getByRole('button', { name: 'Rotate secret…' }).click();
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByRole('dialog', { name: 'The new signing secret' }).getByText('whsec_').waitFor();
  await page.getByRole('button', { name: 'I have saved it' }).click();

  await call('POST', '/prompts', { body: { name: 'new', template: 'x', model: 'sandbox/echo' } });
  const id = new URL(page.url()).pathname.split('/').at(-1);
  const untilDelivered = (count: number) =>
    waitFor(`${count} deliveries`, async () => {
      const { body } = await call('GET', `/webhooks/${id}/deliveries?status=delivered`);
      return body.data.length === count;
    });
  await untilDelivered(1);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('disabled by request').waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Replay…' }).click();
  await page.getByLabel('Only undelivered events').uncheck();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByText('1 event is being sent again.').first().waitFor();
  await untilDelivered(2);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().click();
  await delivery.getByRole('heading', { name: 'Attempt 1 200' }).waitFor();
  await delivery.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The event is being sent again, as a new delivery.').first().waitFor();
  expect((await receiver.got(4)).slice(1).map(({ body }) => body.event)).toEqual(Array(3).fill('prompt.created'));
  expect(complaints).toEqual([]);
  await context.close();
});

test('a waiting delivery is sent now, and shows the request as sent', async () => {
  const { body: webhook } = await call('POST', '/webhooks', {
    body: { url: receiver.url, events: ['prompt.updated'], headers: { 'X-Token': 'a-secret-token' } },
  });
  receiver.respond = answering(503);
  const before = receiver.received.length;
  await call('POST', '/prompts', { body: { name: 'waiting', template: 'x', model: 'sandbox/echo' } });
  await call('PUT', '/prompts/waiting', { body: { template: 'y' } });
  const waiting = () => call('GET', `/webhooks/${webhook.id}/deliveries?status=waiting`);
  await waitFor('a delivery that waits', async () => (await waiting()).body.data.length === 1);
  receiver.respond = answering(200);

  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/webhooks/${webhook.id}`));
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().click();
  const dialog = page.getByRole('dialog', { name: 'Delivery' });
  await dialog.getByRole('heading', { name: 'Attempt 1 503' }).waitFor();
  await dialog.getByRole('button', { name: 'Send now' }).click();
  await dialog.getByRole('heading', { name: 'Attempt 2 200' }).waitFor();
  await dialog.getByText('delivered', { exact: true }).waitFor();
  expect(await dialog.getByRole('button', { name: 'Send now' }).count()).toBe(0);

  const sent = (await receiver.got(before + 2)).at(-1);
  await dialog.locator('summary').last().click();
  const shown = await dialog.getByRole('region', { name: 'request of attempt 2' }).textContent();
  expect(shown).toContain(`POST ${receiver.url}`);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'X-Signature', 'X-Delivery-Attempt'])
    expect(shown).toContain(`${name}: ${String(sent?.headers[name.toLowerCase()])}`);
  expect(shown).toContain('X-Token: (hidden)');
  expect(shown).not.toContain('a-secret-token');
  const body = await dialog.getByRole('region', { name: 'body of the request' }).textContent();
  expect(body).toBe(sent?.raw.toString());
  expect(complaints).toEqual([]);
  await context.close();
});

test('disabling a webhook is undone', async () => {
  const { body: webhook } = await call('POST', '/webhooks', {
    body: { url: receiver.url, events: ['monitor.alerted'] },
  });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at(`/webhooks/${webhook.id}`));
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('The webhook was disabled.').first().waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').first().waitFor();
  expect((await call('GET', `/webhooks/${webhook.id}`)).body.status).toBe('enabled');
  expect(complaints).toEqual([]);
  await context.close();
});

test('a key is made, shown once, and revoked; a session is ended', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/settings'));
  await page.getByRole('button', { name: 'New key…' }).click();
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByLabel('Name').fill('for a program');
  await form.getByRole('button', { name: 'Create' }).click();
  const shown = page.getByRole('dialog', { name: 'The new key' });
  const key = (await shown.locator('pre').textContent()) ?? '';
  await shown.getByRole('button', { name: 'I have saved it' }).click();
  expect((await call('GET', '/prompts', { key })).status).toBe(200);

  const other = await stage.signIn({}, key);
  await other.page.goto(stage.at('/settings'));
  await other.page.getByRole('heading', { name: 'Only for administrators' }).waitFor();
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('button', { name: 'End the session of for a program' }).click();
  await page.getByText('The session was ended.').first().waitFor();
  await other.page.getByRole('link', { name: 'Prompts' }).dispatchEvent('click');
  await other.page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  await other.context.close();

  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByRole('button', { name: 'Revoke… for a program' }).click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('cell', { name: 'revoked' }).waitFor();
  expect((await call('GET', '/prompts', { key })).status).toBe(401);
  expect(complaints).toEqual([]);
  await context.close();
});

test('a label is protected, as the audit log shows', async () => {
  await call('PUT', '/prompts/new/labels/production', { body: { version: 1 } });
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/settings?tab=labels'));
  await page.getByRole('button', { name: 'Protect production' }).click();
  await page.getByRole('button', { name: 'Unprotect production' }).waitFor();
  const { body: writer } = await call('POST', '/api-keys', { body: { name: 'writer', scopes: ['read', 'write'] } });
  const refused = await call('DELETE', '/prompts/new/labels/production', { key: writer.key });
  expect(refused.body.error.code).toBe('insufficient_scope');

  await page.getByRole('link', { name: 'Audit log' }).click();
  await page
    .getByRole('cell', { name: /^api key / })
    .first()
    .waitFor();
  await page.getByLabel('What').selectOption('label.protected');
  // Until the list is refetched, it has other entries.
  await page.getByRole('row').filter({ hasText: 'protected' }).getByRole('button').click();
  const entry = page.getByRole('dialog', { name: 'label.protected' });
  await entry.getByRole('region', { name: 'entry' }).getByText('session_id').waitFor();
  await entry.getByRole('button', { name: 'Only this label' }).click();
  await page.waitForURL(/resource=label/);
  await page.getByRole('cell', { name: 'label production' }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('all these pages are accessible, in either theme, and fit a phone', async () => {
  const { body: webhooks } = await call('GET', '/webhooks');
  const { id } = webhooks.data.find(({ events }: { events: string[] }) => events.join() === 'prompt.updated');
  const { body: deliveries } = await call('GET', `/webhooks/${id}/deliveries`);
  const problems = await problemsOf(stage, [
    { at: '/webhooks', shows: 'Webhooks' },
    { at: '/webhooks?tab=notifications', shows: 'There are no notifications' },
    { at: `/webhooks/${id}`, shows: 'Deliveries' },
    { at: `/webhooks/${id}?delivery=${deliveries.data[0].id}`, shows: 'Attempt 1' },
    { at: '/settings', shows: 'Settings' },
    { at: '/settings?tab=labels', shows: 'Settings' },
    { at: '/settings?tab=sessions', shows: 'Settings' },
    { at: '/settings?tab=audit', shows: 'Settings' },
  ]);
  expect(problems).toEqual([]);
});

test('a webhook whose attempts fail is called failing, and everything that it has missed is sent at once', async () => {
  const { context, page, complaints } = await stage.signIn();
  receiver.respond = answering(503);
  const { body: webhook } = await call('POST', '/webhooks', {
    body: { url: `${receiver.url}?own`, events: ['prompt.updated'] },
  });
  await call('POST', '/prompts', { body: { name: 'told', template: 'x', model: 'sandbox/echo' } });
  await call('PUT', '/prompts/told', { body: { template: 'y' } });
  const read = async () => (await call('GET', `/webhooks/${webhook.id}`)).body;
  await waitFor('a failed attempt', async () => (await read()).consecutive_failures > 0);

  await page.goto(stage.at('/webhooks'));
  const row = page
    .getByRole('row')
    .filter({ hasText: '?own' })
    .filter({ hasText: /failing, \d ×/ });
  await row.waitFor();
  expect(await row.locator('.badge.good').count()).toBe(0);
  await row.getByRole('link').first().click();
  const failures = page.getByRole('region', { name: 'Failures' });
  await failures.getByText(/\d attempts? in a row failed/).waitFor();
  receiver.respond = answering(200);
  await failures.getByRole('button', { name: 'Send all now' }).click();
  await page
    .getByText(/events? (is|are) being sent again/)
    .first()
    .waitFor();
  await waitFor('its deliveries', async () => (await read()).consecutive_failures === 0);
  expect(complaints).toEqual([]);
  await context.close();
});
