import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { expectRight, makeMaterial, sized, startRun } from '../support/fault-runs.ts';
import { behave, type Stage, setStage } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { type ProviderProcess, startProvider } from '../support/processes-service.ts';

const CONCURRENCY = 20;
const LATENCY = ['--latency', '50'];

let database: { url: string; drop(): Promise<void> };
let stage: Stage;
let anthropic: ProviderProcess;
let google: ProviderProcess;
let worker: Started;

beforeAll(async () => {
  [database, anthropic, google] = await Promise.all([
    createTestDatabase(),
    startProvider('anthropic', LATENCY),
    startProvider('google', LATENCY),
  ]);
  stage = await setStage({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    latencyMs: 50,
    env: {
      // Long enough for a busy machine: a slower response is an additional call.
      MODEL_TIMEOUT: '4s',
      ANTHROPIC_API_KEY: 'x',
      ANTHROPIC_BASE_URL: anthropic.baseUrl,
      GOOGLE_GENERATIVE_AI_API_KEY: 'x',
      GOOGLE_GENERATIVE_AI_BASE_URL: google.baseUrl,
    },
  });
  [, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
});
afterAll(async () => {
  await stage?.end();
  await database?.drop();
});

interface Trouble {
  name: string;
  model: string;
  provider: ProviderProcess;
  behaviour: object;
  /** Every nth call is spoiled. */
  every: number;
  examples: number;
  hopeless?: number[];
}

/** Concurrent runs, each with a different provider problem. */
async function expectRightInSpiteOf(troubles: Trouble[]): Promise<void> {
  const outcomes = await Promise.allSettled(
    troubles.map(async ({ name, model, provider, behaviour, every, examples, hopeless }) => {
      await behave(provider, behaviour);
      const material = await makeMaterial(stage.call, name, examples, { model });
      const run = await startRun(stage.call, material, CONCURRENCY);
      // One call for each spoiled one, and some for responses that were too slow on this machine: a stall affects all in flight.
      const spoiled = Math.ceil(examples / (every - 1));
      await expectRight(
        { ...stage, model: provider },
        run,
        material,
        spoiled + Math.max(CONCURRENCY, examples / 10),
        hopeless,
      );
    }),
  );
  // No run is left when another has failed.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

test('providers that refuse, stall or hang up cost time, but no example', async () => {
  await expectRightInSpiteOf([
    {
      name: 'refusing',
      model: 'openai/gpt-4o-mini',
      provider: stage.model,
      // Only the one that is finally refused fails.
      behaviour: { rateLimitEvery: 3, retryAfter: '0.1', mode: 'fail', status: 400, matching: 'refusing 13.' },
      every: 3,
      examples: sized(40),
      hopeless: [13],
    },
    {
      name: 'stalling',
      model: 'anthropic/claude-haiku-4-5',
      provider: anthropic,
      behaviour: { mode: 'stall', every: 5 },
      every: 5,
      examples: sized(60),
    },
    {
      name: 'breaking-off',
      model: 'google/gemini-2.5-flash',
      provider: google,
      behaviour: { mode: 'break-halfway', every: 5 },
      every: 5,
      examples: sized(60),
    },
  ]);
  expect(worker.output()).not.toMatch(/unhandled|"level":60/);
});
