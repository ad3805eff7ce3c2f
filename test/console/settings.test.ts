import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { problemsOf } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
let provider: Server;
let answer = { status: 200, body: '{"data":[{"id":"gpt-x"}]}' };
beforeAll(async () => {
  provider = createServer((_request, response) => {
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const { port } = provider.address() as AddressInfo;
  stage = await startStage({ OPENAI_API_KEY: 'sk-secret-of-openai', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` });
});
afterAll(async () => {
  await stage?.stop();
  provider?.close();
});

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

test('the providers say what they lack, and a test whether they answer', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/settings'));
  await page.getByRole('link', { name: 'Providers' }).click();
  const card = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
  await card('anthropic').getByText('ANTHROPIC_API_KEY is missing.').waitFor();
  expect(await card('anthropic').getByRole('button').count()).toBe(0);
  await card('openai').getByText('configured', { exact: true }).waitFor();
  await card('openai').getByRole('button', { name: 'Test openai' }).click();
  await card('openai')
    .getByText(/^answered in .+, 1 model$/)
    .waitFor();
  answer = { status: 401, body: '{"error":{"message":"Incorrect API key provided: sk-secret-of-openai."}}' };
  await card('openai').getByRole('button', { name: 'Test openai' }).click();
  await card('openai').getByRole('alert').getByText('Incorrect API key provided').waitFor();
  expect(await page.getByText('sk-secret').count()).toBe(0);

  const { body: reader } = await call('POST', '/api-keys', { body: { name: 'reader', scopes: ['read'] } });
  const other = await stage.signIn({}, reader.key);
  await other.page.goto(stage.at('/settings?tab=providers'));
  await other.page.getByRole('heading', { name: 'openai', exact: true }).waitFor();
  expect(await other.page.getByRole('button', { name: 'Test openai' }).count()).toBe(0);
  await other.context.close();
  expect(complaints).toEqual([]);
  await context.close();
});

test('models are offered with their context and their price', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/prompts?dialog=new'));
  await page.getByRole('dialog').getByLabel('Model').fill('gpt-4o-mini');
  await page.getByRole('option', { name: 'openai/gpt-4o-mini 128K tokens · $0.15 in, $0.6 out' }).first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('the workspace of the session is shown, with the rights of the key', async () => {
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/settings'));
  await page.getByRole('link', { name: 'Workspaces' }).click();
  const part = page.getByRole('region', { name: 'Workspaces' });
  await part.getByText('default').waitFor();
  await part.getByText('This session was started with a key').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('a label is protected, and Undo reverts that', async () => {
  await call('PUT', '/labels/guarded', { body: { protected: true } });
  const isProtected = async () =>
    (await call('GET', '/labels')).body.data.some(
      (each: { label: string; protected: boolean }) => each.label === 'guarded' && each.protected,
    );
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/settings?tab=labels'));
  await page.getByRole('button', { name: 'Unprotect guarded' }).click();
  await page.getByText('“guarded” is no longer protected.').first().waitFor();
  expect(await isProtected()).toBe(false);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').first().waitFor();
  expect(await isProtected()).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});

test('these pages are accessible in either theme, and fit a phone', async () => {
  expect(
    await problemsOf(stage, [
      { at: '/settings?tab=providers', shows: 'anthropic' },
      { at: '/settings?tab=workspaces', shows: 'Settings' },
    ]),
  ).toEqual([]);
});
