import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { BatchRef, BatchResult, BatchState } from '../../../src/models/batches/batched-models.ts';
import { SubmissionError } from '../../../src/models/batches/submission-error.ts';
import type { ClosableModels } from '../../../src/models/model.ts';
import { type BatchDirectory, batchDirectory, batchFile, ended, resultsOf } from '../../support/batches.ts';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import type { BatchBehaviour } from '../../support/providers/batches.ts';
import { startGoogleServer } from '../../support/providers/google.ts';
import { callOf, modelErrorOf, modelsAt } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';

// What the interface reports for everything that can go wrong with a batch at a provider.

const { signal } = new AbortController();
const STARTS = { openai: startOpenAiServer, anthropic: startAnthropicServer, google: startGoogleServer };
const CREATE = { openai: 'POST /v1/batches', anthropic: 'POST /v1/messages/batches', google: 'batchGenerateContent' };
let directory: BatchDirectory;

beforeAll(async () => {
  directory = await batchDirectory();
});
afterAll(() => directory.remove());

describe.each([
  ['openai', 'openai/gpt-4o'],
  ['anthropic', 'anthropic/claude-sonnet-4-5'],
  ['google', 'google/gemini-2.5-flash'],
] as const)('%s', (provider, model) => {
  let server: StandIn;
  let models: ClosableModels;
  let ref: BatchRef;
  let since: Date;
  let nth = 0;
  const calls = ['one', 'two', 'three', 'four'].map((input) => callOf(model, { input }));
  const hasTag = provider !== 'anthropic';

  beforeAll(async () => {
    server = await STARTS[provider]();
    models = modelsAt({ [provider]: server.baseUrl });
  });
  beforeEach(() => {
    nth += 1;
    ref = { provider, model, tag: `batch_${provider}_${nth}` };
    since = new Date();
    server.batches.behave();
  });
  afterAll(async () => {
    await models.close();
    await server.close();
  });

  async function submit(behaviour: BatchBehaviour = {}): Promise<BatchState> {
    const file = await batchFile(directory, models.batches, ref, calls);
    server.batches.behave(behaviour);
    return models.batches.submit(ref, file, signal);
  }

  async function refusalOf(behaviour: BatchBehaviour): Promise<SubmissionError> {
    const error = await submit(behaviour).catch((thrown: unknown) => thrown);
    if (error instanceof SubmissionError) return error;
    throw error instanceof Error ? error : new Error('It was submitted.');
  }

  const endOf = async (behaviour: BatchBehaviour): Promise<BatchState> =>
    ended(models.batches, ref, (await submit(behaviour)).providerBatchId);

  const find = (known: string[] = []) =>
    models.batches.find(ref, { since, items: calls.length, isKnown: async (id) => known.includes(id) }, signal);

  /** Positions by outcome. */
  function placesOf(results: BatchResult[]): Record<string, number[]> {
    const places: Record<string, number[]> = {};
    for (const { kind, customId } of results) {
      places[kind] = [...(places[kind] ?? []), models.batches.seqOf(ref, customId) ?? -1].toSorted((a, b) => a - b);
    }
    return places;
  }

  const created = () => server.batches.inspect().created;

  test('a batch that is rejected when it is validated', async () => {
    const reject = { code: 'bad_thing', message: 'The file is no good.' };
    if (provider === 'anthropic') {
      const { cause, mayExist } = await refusalOf({ reject });
      expect(mayExist).toBe(false);
      expect(cause).toMatchObject({ code: 'model_invalid_request', message: reject.message, retryable: false });
      return;
    }
    const state = await endOf({ reject });
    expect(state).toMatchObject({ status: 'rejected', error: { message: reject.message, retryable: false } });
    expect(await resultsOf(models.batches, ref, state)).toEqual([]);
  });

  test('a full queue', async () => {
    if (provider === 'openai') {
      const state = await endOf({ queueFull: 1 });
      expect(state).toMatchObject({ status: 'rejected', error: { code: 'token_limit_exceeded', retryable: true } });
    } else {
      const { cause, mayExist } = await refusalOf({ queueFull: 1 });
      expect(mayExist).toBe(false);
      expect(cause).toMatchObject({ code: 'model_rate_limited', retryable: true });
    }
    ref = { ...ref, tag: `${ref.tag}b` };
    expect((await endOf({})).status).toBe('ended');
  });

  test('an answer lost after the batch was created: it is found, and not created again', async () => {
    const before = created();
    expect((await refusalOf({ loseAnswers: 1, completeMs: null })).mayExist).toBe(true);
    expect(created()).toBe(before + 1);
    if (!hasTag) {
      expect(await find()).toEqual({ kind: 'undecided' });
      const id = server.batches.inspect().batches.at(-1)?.id ?? '';
      await server.batches.endAll();
      expect(await find([id])).toEqual({ kind: 'absent' });
    }
    expect(await find()).toMatchObject({ kind: 'found', state: { counts: { total: 4 } } });
    await server.batches.endAll();
  });

  test('nothing was created', async () => {
    const { cause, mayExist } = await refusalOf({ failing: { matching: CREATE[provider], status: 400 } });
    expect([cause.code, mayExist]).toEqual(['model_invalid_request', false]);
    server.batches.behave();
    expect(await find()).toEqual({ kind: 'absent' });
    const unreachable = modelsAt({ [provider]: server.baseUrl.replace(String(server.port), '1') });
    const file = await batchFile(directory, models.batches, ref, calls);
    const error = await unreachable.batches.submit(ref, file, signal).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ mayExist: false, cause: { code: 'model_unavailable', retryable: true } });
    await unreachable.close();
  });

  test.each([
    [500, true, 'model_unavailable', true],
    [429, false, 'model_rate_limited', true],
    [401, false, 'model_authentication', false],
  ] as const)('a %d on creation', async (status, mayExist, code, retryable) => {
    const error = await refusalOf({ failing: { matching: CREATE[provider], status, times: 1, retryAfter: '7' } });
    expect(error).toMatchObject({ mayExist, cause: { code, retryable } });
    if (status === 429) expect(error.cause.retryAfterMs).toBe(7000);
  });

  test.each([429, 500])('a %d on every other request', async (status) => {
    const state = await endOf({});
    server.batches.behave({ failing: { matching: ' ', status } });
    const code = status === 429 ? 'model_rate_limited' : 'model_unavailable';
    const attempts = [
      () => models.batches.read(ref, state.providerBatchId, signal),
      () => models.batches.cancel(ref, state.providerBatchId, signal),
      () => models.batches.deleteFiles(ref, state.files, signal),
      () => resultsOf(models.batches, ref, state),
      () => find(),
    ];
    for (const attempt of attempts) expect(await modelErrorOf(attempt())).toMatchObject({ code, retryable: true });
  });

  test('a key that is revoked in the middle', async () => {
    const { providerBatchId } = await submit({ completeMs: null });
    server.batches.behave({ isRevoked: true });
    const error = await modelErrorOf(models.batches.read(ref, providerBatchId, signal));
    expect(error).toMatchObject({ code: 'model_authentication', retryable: false });
    expect((await refusalOf({ isRevoked: true })).cause.code).toBe('model_authentication');
    server.batches.behave();
    await server.batches.endAll();
  });

  test('a poll that hangs ends with its caller', async () => {
    const { providerBatchId } = await submit({ completeMs: null });
    server.batches.behave({ hangPolls: 1 });
    const caller = new AbortController();
    const poll = models.batches.read(ref, providerBatchId, caller.signal);
    await waitFor('the poll', async () => server.batches.behaviour.hangPolls === 0);
    caller.abort(new Error('enough'));
    await expect(poll).rejects.toThrow('enough');
    await server.batches.endAll();
  });

  test('some calls fail', async () => {
    const state = await endOf({ failEvery: 2 });
    expect(state).toMatchObject({ status: 'ended', counts: { total: 4, succeeded: 2, failed: 2 } });
    const results = await resultsOf(models.batches, ref, state);
    expect(
      Object.values(placesOf(results))
        .flat()
        .toSorted((a, b) => a - b),
    ).toEqual([0, 1, 2, 3]);
    expect(results.filter(({ httpStatus }) => httpStatus === 200)).toHaveLength(2);
  });

  test('one call that is invalid for the provider fails alone', async () => {
    const file = await batchFile(directory, models.batches, ref, calls);
    const [first = '', ...rest] = (await directory.read(`${ref.tag}.jsonl`)).split('\n');
    const malformed = [first.replace(/"(messages|contents)":/, '"wrong":'), ...rest].join('\n');
    const path = await directory.write('malformed.jsonl', malformed);
    const submitted = await models.batches.submit(ref, { ...file, path, bytes: malformed.length }, signal);
    const state = await ended(models.batches, ref, submitted.providerBatchId);
    expect(state).toMatchObject({ status: 'ended', counts: { succeeded: 3, failed: 1 } });
    const results = await resultsOf(models.batches, ref, state);
    const [failed] = results.filter(({ customId }) => models.batches.seqOf(ref, customId) === 0);
    const [call] = calls;
    if (failed === undefined || call === undefined) throw new Error('The call has no result.');
    const error = await modelErrorOf(models.batches.toResponse(call, failed));
    expect(error).toMatchObject({ code: 'model_invalid_request', retryable: false });
  });

  test('a batch that expires half-way', async () => {
    const state = await endOf({ expireAt: 0.5 });
    expect(state.status).toBe('expired');
    const places = placesOf(await resultsOf(models.batches, ref, state));
    // Google returns nothing for those.
    expect(places).toEqual(provider === 'google' ? {} : { responded: [0, 1], unfinished: [2, 3] });
  });

  test('a batch that is canceled half-way, and cancel after its end', async () => {
    const { providerBatchId } = await submit({ completeMs: null });
    await models.batches.cancel(ref, providerBatchId, signal);
    const state = await ended(models.batches, ref, providerBatchId);
    expect(state.status).toBe('canceled');
    expect(placesOf(await resultsOf(models.batches, ref, state))).toMatchObject({ responded: [0, 1] });
    await models.batches.cancel(ref, providerBatchId, signal);
  });

  test('results in the opposite order, each of them twice, in small pieces', async () => {
    const state = await endOf({});
    server.batches.behave({ isShuffled: true });
    expect(placesOf(await resultsOf(models.batches, ref, state))).toEqual({ responded: [0, 0, 1, 1, 2, 2, 3, 3] });
    server.batches.behave({ pieceBytes: 7 });
    expect(placesOf(await resultsOf(models.batches, ref, state))).toEqual({ responded: [0, 1, 2, 3] });
  });

  test('a broken download is restarted', async () => {
    const state = await endOf({});
    server.batches.behave({ breakDownloads: 1 });
    const seen: BatchResult[] = [];
    const broken = (async () => {
      for await (const result of models.batches.results(ref, state, signal)) seen.push(result);
    })();
    expect(await modelErrorOf(broken)).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(seen.length).toBeLessThan(calls.length);
    expect(placesOf(await resultsOf(models.batches, ref, state))).toEqual({ responded: [0, 1, 2, 3] });
  });

  test('a complete batch with missing results, and a line without JSON', async () => {
    const missing = await endOf({ missing: 3 });
    expect(missing.status).toBe('ended');
    expect(placesOf(await resultsOf(models.batches, ref, missing))).toEqual({ responded: [3] });
    ref = { ...ref, tag: `${ref.tag}b` };
    const garbled = await endOf({ garbled: 1 });
    expect(placesOf(await resultsOf(models.batches, ref, garbled))).toEqual({ responded: [1, 2, 3] });
  });

  test('nothing remains, even of an attempt whose batch was never created', async () => {
    await refusalOf({ failing: { matching: CREATE[provider], status: 500 } });
    const state = await endOf({});
    await models.batches.deleteFiles(ref, state.files, signal);
    const mine = () => server.batches.inspect().files.filter(({ name }) => name.startsWith(ref.tag));
    expect(mine()).toEqual([]);
    expect(server.batches.inspect().files.map(({ id }) => id)).not.toEqual(expect.arrayContaining(state.files));
    // Once more is fine.
    await models.batches.deleteFiles(ref, state.files, signal);
  });
});
