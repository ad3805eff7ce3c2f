import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { type EventReader, readEvents, textOf } from '../support/event-stream.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { behave, callsOf, KEY, setStage } from '../support/fault-stage.ts';
import { endedExecution, startProvider } from '../support/processes-service.ts';

const KILLS = AT_FULL_SIZE ? 30 : 2;
/** Executions that are in the middle of their chains when a worker is killed. */
const AT_ONCE = 20;
const LATENCY_MS = 300;
/** The first has no access, the second no such model, the third responds. */
const CHAIN = ['openai/gpt-4o-mini', 'anthropic/claude-haiku-4-5', 'google/gemini-2.5-flash'];

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

test('workers that are killed in the middle of chains, half of them streamed: each call that was finished is paid once, no model is skipped, and readers have the whole response', async () => {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const latency = ['--latency', String(LATENCY_MS)];
  const [second, third] = await Promise.all([startProvider('anthropic', latency), startProvider('google', latency)]);
  const stage = await setStage({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    latencyMs: LATENCY_MS,
    env: {
      ANTHROPIC_API_KEY: 'x',
      ANTHROPIC_BASE_URL: second.baseUrl,
      GOOGLE_GENERATIVE_AI_API_KEY: 'x',
      GOOGLE_GENERATIVE_AI_BASE_URL: third.baseUrl,
    },
  });
  cleanUps.push(() => stage.end());
  await behave(stage.model, { mode: 'fail', status: 401, latencyMs: LATENCY_MS });
  await behave(second, { mode: 'fail', status: 404, latencyMs: LATENCY_MS });
  let [worker] = await Promise.all([stage.startWorker(), stage.startApi()]);

  const readers = new Map<string, EventReader>();
  async function stream(body: object): Promise<string> {
    const reader = await readEvents({ origin: stage.origin, key: KEY }, '/executions', { method: 'POST', body });
    await reader.has('execution.started');
    const { id } = reader.events[0]?.data.execution ?? {};
    readers.set(id, reader);
    return id;
  }
  async function run(body: object): Promise<string> {
    const answer = await stage.call('POST', '/executions', { body, headers: { Prefer: 'respond-async' } });
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.id;
  }

  let lost = 0;
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const prompts = Array.from({ length: AT_ONCE }, (_, index) => `Kill ${kill}, chain ${index}.`);
    const [model, ...fallbacks] = CHAIN;
    const before = [await stage.model.calls(), await second.calls(), await third.calls()];
    const ids = await Promise.all(
      prompts.map((template, index) => {
        const body = { draft: { template, model, fallback_models: fallbacks } };
        return index % 2 === 0 ? run(body) : stream(body);
      }),
    );
    // Each kill is in another part of the chains.
    const part = kill % CHAIN.length;
    await [stage.model, second, third][part]?.called((before[part] ?? 0) + AT_ONCE / 2);
    await worker.killTree();
    worker = await stage.startWorker();

    const seen = await Promise.all(ids.map((id) => endedExecution(stage.call, id)));
    const calls = await Promise.all([stage.model, second, third].map((provider) => callsOf(provider, prompts)));
    for (const [index, execution] of seen.entries()) {
      expect(execution).toMatchObject({ status: 'completed', model: CHAIN[2], requested_model: CHAIN[0] });
      const entries: { model: string; error: { message: string } | null; tokens: unknown }[] = execution.calls;
      expect([...new Set(entries.map((entry) => entry.model))]).toEqual(CHAIN);
      expect(entries.filter((entry) => entry.tokens !== null)).toHaveLength(1);
      const lostHere = entries.filter((entry) => entry.error?.message.startsWith('The worker stopped'));
      expect(lostHere.length).toBeLessThanOrEqual(1);
      expect(entries).toHaveLength(CHAIN.length + lostHere.length);
      for (const [at, name] of CHAIN.entries()) {
        const made = calls[at]?.[index] ?? 0;
        expect(made).toBeGreaterThanOrEqual(1);
        // A call that was lost may not have reached the model.
        expect(made).toBeLessThanOrEqual(entries.filter((entry) => entry.model === name).length);
      }
      lost += lostHere.length;
      const reader = readers.get(execution.id);
      expect([index, reader !== undefined]).toEqual([index, index % 2 === 1]);
      if (reader === undefined) continue;
      expect(await reader.ended).toBe('ended');
      expect(reader.events.at(-1)).toMatchObject({ event: 'execution.completed', data: { execution } });
      expect(textOf(reader.events)).toBe(execution.output);
    }
  }
  tell(`${KILLS} kills in fallback chains, half of them streamed: ${lost} calls in flight were made again`);
  expect(lost).toBeLessThanOrEqual(KILLS * AT_ONCE);
});
