import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' });
});
afterAll(() => service.stop());

/** The last attempt at a webhook with this address. */
async function attemptAt(url: string) {
  const { body: webhook } = await service.call('POST', '/webhooks', { body: { url, events: ['prompt.created'] } });
  const { body: sent } = await service.call('POST', `/webhooks/${webhook.id}/test`);
  return waitFor('the attempt', async () => {
    const { body } = await service.call('GET', `/deliveries/${sent.id}`);
    return body.attempts?.at(-1);
  });
}

test("webhooks reach neither the service's API nor Temporal nor the database, though private addresses are allowed", async () => {
  const ports = {
    api: new URL(service.origin).port,
    temporal: new URL(`tcp://${process.env['TEST_TEMPORAL_ADDRESS']}`).port,
    database: new URL(service.databaseUrl).port,
  };
  for (const [what, port] of Object.entries(ports)) {
    const attempt = await attemptAt(`http://localhost:${port}/api/v1/namespaces`);
    expect([what, attempt.error]).toEqual([
      what,
      "localhost is not allowed at this port, which is one of the service's own",
    ]);
  }
});
