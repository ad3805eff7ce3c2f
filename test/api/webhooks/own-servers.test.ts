import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' });
});
afterAll(() => service.stop());

/** The service's API, Temporal and the database, by the ways to write this machine. */
const servers = () =>
  Object.entries({
    api: new URL(service.origin).port,
    temporal: new URL(`tcp://${process.env['TEST_TEMPORAL_ADDRESS']}`).port,
    database: new URL(service.databaseUrl).port,
  }).flatMap(([what, port]) =>
    ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'x.localhost'].map((host) => ({
      what,
      url: `http://${host}:${port}/api/v1/namespaces`,
    })),
  );
const REFUSED = /is not allowed at this port, which is one of the service's own/;

const create = (url: string) => service.call('POST', '/webhooks', { body: { url, events: ['prompt.created'] } });

test("a webhook at one of the service's own ports is refused on creation and change, even if private addresses are allowed", async () => {
  const { body: other } = await create('http://127.0.0.1:9999/hooks');
  for (const { what, url } of servers()) {
    for (const answer of [await create(url), await service.call('PATCH', `/webhooks/${other.id}`, { body: { url } })])
      expect([what, url, answer.status, answer.body.error?.details?.[0]]).toEqual([
        what,
        url,
        400,
        { path: 'url', message: expect.stringMatching(REFUSED) },
      ]);
  }
  expect((await service.call('GET', `/webhooks/${other.id}`)).body.url).toBe('http://127.0.0.1:9999/hooks');
});

test('so is an HTTP evaluator of a rule and of an evaluation', async () => {
  await service.call('POST', '/prompts', { body: { name: 'a', template: 'a', model: 'sandbox/echo' } });
  const evaluators = [{ type: 'http', name: 'own', url: servers()[0]?.url }];
  const rule = await service.call('PUT', '/rules/own', { body: { prompt_name: 'a', evaluators } });
  const body = { prompt_name: 'a', examples: [{ variables: {} }], evaluators };
  const evaluation = await service.call('POST', '/evaluations', { body });
  for (const { status, body: answer } of [rule, evaluation])
    expect([status, answer.error?.details?.[0]]).toEqual([
      400,
      { path: 'evaluators.0.url', message: expect.stringMatching(REFUSED) },
    ]);
});

test('an address stored earlier is refused on connection', async () => {
  for (const { what, url } of servers().filter(({ url }) => url.includes('//localhost'))) {
    const { body: webhook } = await create('http://127.0.0.1:9999/hooks');
    await service.dependencies.db.system.query((db) =>
      db.updateTable('webhooks').set({ url }).where('id', '=', webhook.id.slice('wh_'.length)),
    );
    const { body: sent } = await service.call('POST', `/webhooks/${webhook.id}/test`);
    const attempt = await waitFor('the attempt', async () => {
      const { body } = await service.call('GET', `/deliveries/${sent.id}`);
      return body.attempts?.at(-1);
    });
    expect([what, attempt.error]).toEqual([what, expect.stringMatching(REFUSED)]);
  }
});
