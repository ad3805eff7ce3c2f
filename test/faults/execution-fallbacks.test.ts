import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { type EventReader, readEvents, textOf } from '../support/event-stream.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { behave, callsOf, KEY, setStage } from '../support/fault-stage.ts';
import { endedExecution, startProvider } from '../support/processes-service.ts';

const KILLS = AT_FULL_SIZE ? 30 : 1;
/** Executions that each model has in flight when a worker is killed. */
const IN_FLIGHT = 6;
/** The first has no access, the second no such model, the third responds. */
const CHAIN = ['openai/gpt-4o-mini', 'anthropic/claude-haiku-4-5', 'google/gemini-2.5-flash'];

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

test('workers that are killed in the middle of chains, half of them streamed: each finished call is paid once, no model is skipped, and readers have the whole response', async () => {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const [second, third] = await Promise.all([startProvider('anthropic'), startProvider('google')]);
  const stage = await setStage({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    latencyMs: 0,
    env: {
      ANTHROPIC_API_KEY: 'x',
      ANTHROPIC_BASE_URL: second.baseUrl,
      GOOGLE_GENERATIVE_AI_API_KEY: 'x',
      GOOGLE_GENERATIVE_AI_BASE_URL: third.baseUrl,
    },
  });
  cleanUps.push(() => stage.end());
  const providers = [stage.model, second, third];
  const behaviours = [{ mode: 'fail', status: 401 }, { mode: 'fail', status: 404 }, {}];
  const behaveAsEver = () => Promise.all(providers.map((provider, at) => behave(provider, behaviours[at] ?? {})));
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

  for (let kill = 1; kill <= KILLS; kill += 1) {
    await behaveAsEver();
    const chains: { prompt: string; at: number; id: string }[] = [];
    // First those held by the last model of the chain, so that the kill affects calls to each.
    for (const at of [...CHAIN.keys()].toReversed()) {
      const provider = providers[at] ?? stage.model;
      const before = await provider.calls();
      await behave(provider, { mode: 'hold' });
      const prompts = Array.from({ length: IN_FLIGHT }, (_, index) => `Kill ${kill}, model ${at}, chain ${index}.`);
      const [model, ...fallbacks] = CHAIN;
      const ids = await Promise.all(
        prompts.map((template, index) => {
          const body = { draft: { template, model, fallback_models: fallbacks } };
          return index % 2 === 0 ? run(body) : stream(body);
        }),
      );
      await provider.called(before + IN_FLIGHT);
      chains.push(...prompts.map((prompt, index) => ({ prompt, at, id: ids[index] ?? '' })));
    }
    await worker.killTree();
    await behaveAsEver();
    worker = await stage.startWorker();

    const seen = await Promise.all(chains.map(({ id }) => endedExecution(stage.call, id)));
    const prompts = chains.map(({ prompt }) => prompt);
    const calls = await Promise.all(providers.map((provider) => callsOf(provider, prompts)));
    for (const [index, execution] of seen.entries()) {
      expect(execution).toMatchObject({ status: 'completed', model: CHAIN[2], requested_model: CHAIN[0] });
      const entries: { model: string; error: { message: string } | null; tokens: unknown }[] = execution.calls;
      const heldAt = chains[index]?.at ?? -1;
      // Only the call in flight is repeated.
      const made = CHAIN.map((_, at) => (at === heldAt ? 2 : 1));
      expect(calls.map((ofPrompt) => ofPrompt[index])).toEqual(made);
      expect(entries.map((entry) => entry.model)).toEqual(CHAIN.flatMap((name, at) => Array(made[at]).fill(name)));
      expect(entries.filter((entry) => entry.tokens !== null)).toHaveLength(1);
      const lost = entries.filter((entry) => entry.error?.message.startsWith('The worker stopped'));
      expect(lost.map((entry) => entry.model)).toEqual([CHAIN[heldAt]]);
      const reader = readers.get(execution.id);
      expect([index, reader !== undefined]).toEqual([index, (index % IN_FLIGHT) % 2 === 1]);
      if (reader === undefined) continue;
      expect(await reader.ended).toBe('ended');
      expect(reader.events.at(-1)).toMatchObject({ event: 'execution.completed', data: { execution } });
      expect(textOf(reader.events)).toBe(execution.output);
    }
  }
  const lost = KILLS * CHAIN.length * IN_FLIGHT;
  tell(`${KILLS} kills in fallback chains, half of them streamed: ${lost} calls in flight were made again`);
});
