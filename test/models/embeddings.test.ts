import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClosableModels, SimilarityCall } from '../../src/models/model.ts';
import { modelErrorOf, modelsAt, TEST_KEY } from '../support/providers/models.ts';
import { PATIENCE_MS } from '../support/wait-for.ts';

interface Seen {
  path: string | undefined;
  key: string | undefined;
  body: unknown;
}

let seen: Seen[] = [];
let answer: { status: number; body: unknown };
let server: Server;
let models: ClosableModels;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { authorization, 'x-goog-api-key': google } = request.headers;
    seen.push({ path: request.url, key: authorization ?? String(google), body: await json(request) });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  models = modelsAt({ openai: base, mistral: base, 'openai-compatible': base, google: base, anthropic: base });
});
beforeEach(() => {
  seen = [];
});
afterAll(async () => {
  await models.close();
  server.close();
});

const callOf = (model: string, rest: Partial<SimilarityCall> = {}): SimilarityCall => ({
  workspace: 'ws_test',
  model,
  text: 'a',
  others: ['b', 'c'],
  signal: new AbortController().signal,
  timeoutMs: PATIENCE_MS,
  ...rest,
});

/** A response of OpenAI, and of compatible servers. */
const openAiAnswer = (vectors: number[][]) => ({
  status: 200,
  body: {
    object: 'list',
    model: 'served-by',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    usage: { prompt_tokens: 1_000_000, total_tokens: 1_000_000 },
  },
});

describe('texts are compared by their embeddings', () => {
  test.each(['openai/text-embedding-3-small', 'mistral/mistral-embed', 'openai-compatible/nomic'])(
    'of %s',
    async (model) => {
      answer = openAiAnswer([
        [1, 0],
        [2, 0],
        [0, 3],
      ]);
      const response = await models.similarities(callOf(model));
      expect(response).toMatchObject({ similarities: [1, 0], providerModel: 'served-by' });
      expect(response.tokens).toEqual({ input: 1_000_000, output: 0, cached_input: 0, reasoning: 0, total: 1_000_000 });
      expect(seen).toEqual([
        {
          path: '/v1/embeddings',
          key: `Bearer ${TEST_KEY}`,
          body: expect.objectContaining({ model: model.split('/')[1], input: ['a', 'b', 'c'] }),
        },
      ]);
    },
  );

  test('of Google, which does not say what it counts', async () => {
    answer = { status: 200, body: { embeddings: [{ values: [1, 1] }, { values: [-1, -1] }, { values: [1, 0] }] } };
    const { similarities, cost } = await models.similarities(callOf('google/gemini-embedding-001'));
    expect(similarities[0]).toBeCloseTo(-1, 9);
    expect(similarities[1]).toBeCloseTo(Math.SQRT1_2, 9);
    expect(cost.amount).toBeNull();
    expect(seen).toMatchObject([{ path: '/v1/models/gemini-embedding-001:batchEmbedContents', key: TEST_KEY }]);
  });

  test('and are paid for by tokens', async () => {
    answer = openAiAnswer([[1], [1], [1]]);
    const { cost } = await models.similarities(callOf('openai/text-embedding-3-small'));
    expect(cost).toMatchObject({ amount: '0.02', pricing: { input_per_million: '0.02', output_per_million: '0' } });
    expect(models.priceOf('openai/text-embedding-3-large')?.input_per_million).toBe('0.13');
  });
});

describe('it is an error', () => {
  test('if the provider has no embeddings', async () => {
    expect(() => models.resolveEmbedding('anthropic/claude-haiku-4-5')).toThrow(
      'anthropic does not support embeddings',
    );
    expect(models.resolveEmbedding('text-embedding-3-small').model).toBe('openai/text-embedding-3-small');
    expect(await modelErrorOf(models.similarities(callOf('anthropic/claude-haiku-4-5')))).toMatchObject({
      code: 'model_invalid_request',
    });
  });

  test('if the response has too few of them', async () => {
    answer = openAiAnswer([[1], [1]]);
    expect(await modelErrorOf(models.similarities(callOf('openai/text-embedding-3-small')))).toMatchObject({
      code: 'model_unavailable',
    });
  });

  test("with the provider's message, without the key", async () => {
    answer = { status: 400, body: { error: { message: `maximum context length, ${TEST_KEY}`, type: 'invalid' } } };
    const error = await modelErrorOf(models.similarities(callOf('openai/text-embedding-3-small')));
    expect(error).toMatchObject({ code: 'model_invalid_request', retryable: false });
    expect(error.message).toContain('maximum context length');
    expect(error.message).not.toContain(TEST_KEY);
    answer = { status: 429, body: { error: { message: 'slow down' } } };
    expect(await modelErrorOf(models.similarities(callOf('openai/text-embedding-3-small')))).toMatchObject({
      code: 'model_rate_limited',
      retryable: true,
    });
  });

  test('of the signal, if it has aborted', async () => {
    const reason = new Error('given up');
    const signal = AbortSignal.abort(reason);
    await expect(models.similarities(callOf('sandbox/echo', { signal }))).rejects.toBe(reason);
  });
});

describe('the sandbox', () => {
  test('compares by shared words', async () => {
    const call = callOf('sandbox/echo', { text: 'The cat sat', others: ['the cat SAT.', 'a dog', 'the cat'] });
    const { similarities, cost } = await models.similarities(call);
    expect(similarities.map((each) => Number(each.toFixed(3)))).toEqual([1, 0, 0.816]);
    expect(cost.amount).toBe('0');
  });

  test('fails as its models do', async () => {
    expect(await modelErrorOf(models.similarities(callOf('sandbox/fail-401')))).toMatchObject({
      code: 'model_authentication',
    });
  });
});
