import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test('changes by others are shown without a reload, by one stream of events', async () => {
  const { context, page, complaints } = await stage.signIn();
  const streams: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.headers()['accept'] === 'text/event-stream') streams.push(pathname);
  });
  const { call } = stage.service;
  await page.goto(stage.at('/prompts'));
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await call('POST', '/prompts', { body: { name: 'by-others', template: 'Hi', model: 'sandbox/echo' } });
  await page.getByRole('link', { name: 'by-others' }).waitFor();

  // None of these pages polls as long as nothing is in progress.
  await page.getByRole('link', { name: 'by-others' }).click();
  await page.getByRole('heading', { name: 'by-others', level: 1 }).waitFor();
  await call('PUT', '/prompts/by-others/labels/production', { body: { version: 1 } });
  await page.getByText('production').first().waitFor();
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  await call('POST', '/webhooks', { body: { url: 'https://example.test/by-others', events: ['prompt.created'] } });
  await page.getByText('https://example.test/by-others').first().waitFor();
  expect(streams).toEqual(['/v1/changes']);
  expect(complaints).toEqual([]);
  await context.close();
});
