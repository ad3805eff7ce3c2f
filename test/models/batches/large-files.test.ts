import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BatchFile, BatchRef } from '../../../src/models/batches/batched-models.ts';
import { linesOf } from '../../../src/models/batches/lines.ts';
import { type BatchDirectory, batchDirectory, ended } from '../../support/batches.ts';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import { ended as closed, drained } from '../../support/providers/batches.ts';
import { startGoogleServer } from '../../support/providers/google.ts';
import { callOf, modelErrorOf, modelsAt } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';

const { signal } = new AbortController();
const ITEMS = 8_000;
/** Of the file: what is in memory of it, on its way to the provider and back, in the stand-in as well. Anything whole would be more. */
const MEMORY_SHARE = 0.8;

let directory: BatchDirectory;
beforeAll(async () => {
  directory = await batchDirectory();
});
afterAll(() => directory.remove());

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What is held, and no garbage. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test.each([
  ['openai', 'openai/gpt-4o', startOpenAiServer],
  ['anthropic', 'anthropic/claude-sonnet-4-5', startAnthropicServer],
  ['google', 'google/gemini-2.5-flash', startGoogleServer],
] as const)('%s: a large file is never whole in memory', async (provider, model, start) => {
  const server = await start({ keepCalls: false });
  const models = modelsAt({ [provider]: server.baseUrl });
  const ref: BatchRef = { provider, model, tag: `batch_${provider}` };
  const call = callOf(model, { input: 'x'.repeat(12 * 1024) });
  const line = await models.batches.toLine(call, 'CUSTOM_ID');
  const path = directory.at(`${provider}.jsonl`);
  const out = createWriteStream(path);
  for (let seq = 0; seq < ITEMS; seq += 1) {
    await drained(out, line.replace('CUSTOM_ID', models.batches.customIdOf(ref, seq)));
  }
  await closed(out);
  const file: BatchFile = { path, bytes: (await stat(path)).size, items: ITEMS };
  expect(file.bytes).toBeGreaterThan(ITEMS * 12 * 1024);

  const before = heldBytes();
  const peaks: number[] = [];
  const watch = setInterval(() => peaks.push(heldBytes() - before), 200);
  try {
    const { providerBatchId } = await models.batches.submit(ref, file, signal);
    const state = await ended(models.batches, ref, providerBatchId);
    expect(state.counts).toEqual({ total: ITEMS, succeeded: ITEMS, failed: 0 });
    const seen = new Set<number | undefined>();
    for await (const { customId } of models.batches.results(ref, state, signal)) {
      seen.add(models.batches.seqOf(ref, customId));
    }
    expect(seen.size).toBe(ITEMS);
    expect(seen.has(undefined)).toBe(false);
  } finally {
    clearInterval(watch);
    await models.close();
    await server.close();
  }
  expect(Math.max(...peaks)).toBeLessThan(MEMORY_SHARE * file.bytes);
});

describe('lines', () => {
  const linesIn = (pieces: string[], maxBytes?: number) => {
    const chunks = (async function* () {
      for (const piece of pieces) yield Buffer.from(piece, 'latin1');
    })();
    return Array.fromAsync(linesOf(chunks, maxBytes));
  };
  const bytes = (text: string) => Buffer.from(text).toString('latin1');

  test('come whole, whatever the pieces are', async () => {
    const text = bytes('{"a":"ä€😀"}\r\n\n{"b":1}');
    const lines = ['{"a":"ä€😀"}', '{"b":1}'];
    for (let size = 1; size <= text.length; size += 1) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      );
      expect(await linesIn(pieces)).toEqual(lines);
    }
  });

  test('longer than a response may be are left out', async () => {
    expect(await linesIn(['{"a"', ':1}\n"', 'x'.repeat(20), 'y"\n{"b":2}\n'], 10)).toEqual(['{"a":1}', '{"b":2}']);
  });

  test('that are cut off are an error that may pass', async () => {
    expect(await modelErrorOf(linesIn(['{"a":1}\n{"b"']))).toMatchObject({
      code: 'model_unavailable',
      retryable: true,
    });
    expect(await linesIn(['{"a":1}\nno JSON\n'])).toEqual(['{"a":1}', 'no JSON']);
  });
});
