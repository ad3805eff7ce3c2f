import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type OwnServers, startOwnServers } from '../support/fault-servers.ts';
import { killOrphans, startNode } from '../support/processes.ts';
import { createTestEnvironment, makePrompt, type Place, runAsync } from '../support/processes-service.ts';

let servers: OwnServers;
let place: Place;
beforeAll(async () => {
  servers = await startOwnServers();
  place = await createTestEnvironment({
    DATABASE_URL: servers.databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
});
afterAll(async () => {
  await killOrphans();
  await servers?.remove();
  await place?.remove();
});

test('an API that reaches a new Temporal first accepts runs at once', async () => {
  const api = startNode('src/api/server.ts', place.env);
  await api.says(/API listening on/);
  await makePrompt(place.call, 'greet', 'sandbox/echo');
  expect(await runAsync(place.call, 'greet')).toMatch(/^exec_/);
});
