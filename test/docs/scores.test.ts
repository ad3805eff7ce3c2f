import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Stage, startStage } from '../console/stage.ts';
import { ownBlocks } from '../support/guides.ts';
import { PROJECT } from '../support/processes.ts';
import { waitFor } from '../support/wait-for.ts';
import { claimsOf } from './claims.ts';

const guide = readFileSync(path.join(PROJECT, 'docs/scores.md'), 'utf8');
const own = ownBlocks(claimsOf('test/docs/scores.test.ts'));
const page = own.take({ page: 'docs/scores.md', language: 'html' })[0]?.code ?? '';
let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test('the page of the guide submits the score of its user, from its own origin', async () => {
  const { service } = stage;
  await service.call('POST', '/prompts', {
    body: { name: 'support/answer', template: 'Say it', model: 'sandbox/echo' },
  });
  const definition = /score-definitions\/helpful" [\s\S]*? -d '([^']+)'/.exec(guide)?.[1] ?? '';
  await service.call('PUT', '/score-definitions/helpful', { body: JSON.parse(definition) });
  const { id } = (await service.call('POST', '/executions', { body: { prompt_name: 'support/answer' } })).body;
  const { token } = (
    await service.call('POST', `/executions/${id}/feedback-token`, { body: { names: ['helpful'], expires_in: 3600 } })
  ).body;
  const html = page.replace('http://127.0.0.1:3000', service.origin).replace('pmsf_…', token);
  expect(html).toContain(token);
  const shop = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html);
  }).listen(0, '127.0.0.1');
  try {
    await waitFor('the shop to listen', async () => shop.listening);
    const { port } = shop.address() as AddressInfo;
    const visitor = await stage.visit();
    // Another name of this machine is another site.
    await visitor.page.goto(`http://localhost:${port}/`);
    const value = async () => {
      const { data } = (await service.call('GET', `/scores?execution_id=${id}`)).body;
      return data.map((score: { value: unknown; source: string }) => [score.value, score.source]);
    };
    const preflight = visitor.page.waitForResponse((each) => each.url().endsWith('/v1/feedback'));
    await visitor.page.getByRole('button', { name: 'Yes' }).click();
    await visitor.page.getByText('Thank you.').waitFor();
    expect((await preflight).ok()).toBe(true);
    expect(await value()).toEqual([[true, 'feedback']]);
    await visitor.page.getByRole('button', { name: 'No' }).click();
    await waitFor('the score to be replaced', async () => JSON.stringify(await value()) === '[[false,"feedback"]]');
    expect(visitor.complaints).toEqual([]);
    // Operations with a token are all that a page of another origin can call.
    const others = await visitor.page.evaluate(
      (at) =>
        fetch(`${at}/v1/scores`, { headers: { Authorization: 'Bearer x' } }).then(
          () => 'read',
          () => 'refused',
        ),
      service.origin,
    );
    expect(others).toBe('refused');
  } finally {
    shop.close();
    shop.closeAllConnections();
  }
});
