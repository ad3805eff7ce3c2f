import { describe, expect, test } from '@jest/globals';
import { CallFailedError, createRetryingModels } from '../../src/activities/call-with-retries.ts';
import type { ModelCall, ModelResponse, Models } from '../../src/models/model.ts';
import { ModelError } from '../../src/models/model-error.ts';
import { resolveModelName } from '../../src/models/names.ts';
import { noBatches } from '../support/batches.ts';
import { callOf } from '../support/providers/models.ts';
import { testSlots } from '../support/slots.ts';
import { waitFor } from '../support/wait-for.ts';

const ANSWER: ModelResponse = {
  output: 'hi',
  toolCalls: [],
  finishReason: 'stop',
  tokens: { input: 1, output: 1, cached_input: 0, reasoning: 0, total: 2 },
  cost: { amount: '0', currency: 'USD', pricing: null },
  modelMs: 1,
  providerModel: null,
};
const never = new AbortController().signal;
const refused = (retryAfterMs?: number) => new ModelError('model_rate_limited', 'slow down', { retryAfterMs });
const unavailable = () => new ModelError('model_unavailable', 'try later');

/** Models that fail as the function determines, and respond if it returns undefined. */
function modelsThat(fail: (nth: number, call: ModelCall) => Error | undefined) {
  const calls: { model: string; at: number }[] = [];
  const models: Models = {
    resolve: resolveModelName,
    resolveEmbedding: resolveModelName,
    similarities: () => Promise.reject(new Error('Nothing is embedded here.')),
    priceOf: () => null,
    batches: noBatches,
    async generate(call) {
      const nth = calls.push({ model: call.model, at: performance.now() });
      const error = fail(nth, call);
      if (error) throw error;
      return ANSWER;
    },
  };
  return { calls, retrying: createRetryingModels(models, testSlots().calls, 1).of('ws_test', 'eval_test') };
}

async function failureOf(answer: Promise<unknown>): Promise<CallFailedError> {
  const error = await answer.catch((thrown: unknown) => thrown);
  if (error instanceof CallFailedError) return error;
  throw new Error('The call did not fail for good.');
}

test('temporary errors are retried, and each call counts', async () => {
  const { retrying } = modelsThat((nth) => (nth < 3 ? unavailable() : undefined));
  expect(await retrying.generate(callOf('sandbox/echo'), never)).toMatchObject({ output: 'hi', attempts: 3 });
});

test('no call is made after six failed ones', async () => {
  const { calls, retrying } = modelsThat(unavailable);
  const error = await failureOf(retrying.generate(callOf('sandbox/echo'), never));
  expect(error).toMatchObject({ attempts: 6, failure: { code: 'model_unavailable' } });
  expect(calls).toHaveLength(6);
});

test('permanent errors are not retried', async () => {
  const { retrying } = modelsThat(() => new ModelError('model_invalid_request', 'no such parameter'));
  expect(await failureOf(retrying.generate(callOf('sandbox/echo'), never))).toMatchObject({ attempts: 1 });
});

test('rate-limit refusals do not use up the retries', async () => {
  const { retrying } = modelsThat((nth) => (nth < 5 ? refused(1) : nth < 9 ? unavailable() : undefined));
  expect(await retrying.generate(callOf('sandbox/echo'), never)).toMatchObject({ attempts: 9 });
});

test('a wait that one provider asked for does not delay calls to another', async () => {
  const { calls, retrying } = modelsThat((nth) => (nth === 1 ? refused(3_600_000) : undefined));
  const stop = new AbortController();
  const slowed = retrying.generate(callOf('openai/gpt-4o-mini'), stop.signal);
  await waitFor('the refusal', async () => calls.length === 1);
  await retrying.generate(callOf('anthropic/claude-haiku-4-5'), never);
  expect(calls.map(({ model }) => model)).toEqual(['openai/gpt-4o-mini', 'anthropic/claude-haiku-4-5']);
  stop.abort();
  await expect(slowed).rejects.toMatchObject({ name: 'AbortError' });
});

test('the short and full name of a model share the pace of their provider', async () => {
  const { calls, retrying } = modelsThat((nth) => (nth === 1 ? refused(500) : undefined));
  const slowed = retrying.generate(callOf('openai/gpt-4o-mini'), never);
  await waitFor('the refusal', async () => calls.length === 1);
  await Promise.all([slowed, retrying.generate(callOf('gpt-4o-mini'), never)]);
  expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThanOrEqual(480);
});

test('waiting ends immediately when stopped, however long the provider asked to wait', async () => {
  const { calls, retrying } = modelsThat(() => refused(3_600_000));
  const stop = new AbortController();
  const answer = retrying.generate(callOf('sandbox/echo'), stop.signal);
  await waitFor('the refusal', async () => calls.length === 1);
  stop.abort();
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  expect(calls).toHaveLength(1);
});

test('a call in flight continues when waiting stops', async () => {
  const stop = new AbortController();
  const { retrying } = modelsThat(() => {
    stop.abort();
    return undefined;
  });
  expect(await retrying.generate(callOf('sandbox/echo'), stop.signal)).toMatchObject({ output: 'hi' });
});

describe('with fallback models', () => {
  const chain = { ...callOf('openai/gpt-4o-mini'), fallbackModels: ['anthropic/claude-haiku-4-5', 'sandbox/echo'] };
  const failOf = (errors: Record<string, Error>) => (_: number, call: ModelCall) => errors[call.model];
  const modelsOf = (calls: { model: string }[]) => calls.map(({ model }) => model);

  test('the next is called if the one before failed for good, and is named', async () => {
    const { calls, retrying } = modelsThat(
      failOf({
        'openai/gpt-4o-mini': unavailable(),
        'anthropic/claude-haiku-4-5': new ModelError('model_authentication', 'no credentials'),
      }),
    );
    expect(await retrying.generate(chain, never)).toMatchObject({ model: 'sandbox/echo', attempts: 5 });
    expect(modelsOf(calls)).toEqual([...Array(3).fill('openai/gpt-4o-mini'), ...chain.fallbackModels]);
  });

  test('a failure that another model would share ends it', async () => {
    const { calls, retrying } = modelsThat(() => new ModelError('content_filtered', 'withheld'));
    expect(await failureOf(retrying.generate(chain, never))).toMatchObject({
      model: 'openai/gpt-4o-mini',
      attempts: 1,
    });
    expect(calls).toHaveLength(1);
  });

  test('neither this call nor later ones wait for a provider that asks for a long pause', async () => {
    const { calls, retrying } = modelsThat(failOf({ 'openai/gpt-4o-mini': refused(3_600_000) }));
    expect(await retrying.generate(chain, never)).toMatchObject({ model: 'anthropic/claude-haiku-4-5', attempts: 2 });
    expect(await retrying.generate(chain, never)).toMatchObject({ model: 'anthropic/claude-haiku-4-5', attempts: 1 });
    expect(calls).toHaveLength(3);
  });

  test('the failure of the last one is reported, with all calls made', async () => {
    const { retrying } = modelsThat(() => new ModelError('model_authentication', 'no credentials'));
    const error = await failureOf(retrying.generate(chain, never));
    expect(error).toMatchObject({ model: 'sandbox/echo', attempts: 3, failure: { code: 'model_authentication' } });
    expect(error.before).toHaveLength(2);
  });
});
