import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { BatchRef, BatchResult } from '../../../src/models/batches/batched-models.ts';
import type { ClosableModels } from '../../../src/models/model.ts';
import { batchFile, ended, resultsOf } from '../../support/batches.ts';
import { callOf, modelsAt } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';

let server: StandIn;
let models: ClosableModels;
const { signal } = new AbortController();
const ref: BatchRef = { provider: 'openai', model: 'openai/gpt-4o', tag: 'batch_01test' };
const prompts = ['one', 'two', 'three'];
const calls = prompts.map((input) => callOf(ref.model, { input }));

beforeAll(async () => {
  server = await startOpenAiServer();
  models = modelsAt({ openai: server.baseUrl });
});
beforeEach(() => server.batches.behave());
afterAll(async () => {
  await models.close();
  await server.close();
});

test('a batch is submitted, read, fetched and deleted', async () => {
  const { batches } = models;
  const file = await batchFile(batches, ref, calls);
  const submitted = await batches.submit(ref, file, signal);
  expect(submitted).toMatchObject({ status: 'in_progress', providerStatus: 'validating' });
  const state = await ended(batches, ref, submitted.providerBatchId);
  expect(state).toMatchObject({ status: 'ended', counts: { total: 3, succeeded: 3, failed: 0 }, error: null });
  const results: BatchResult[] = await resultsOf(batches, ref, state);
  expect(results.map(({ customId }) => batches.seqOf(ref, customId))).toEqual([0, 1, 2]);
  for (const [index, result] of results.entries()) {
    const call = calls[index];
    if (call === undefined) throw new Error('There are more results than calls.');
    const [batched, direct] = [await batches.toResponse(call, result), await models.generate(call)];
    expect(batched).toEqual({ ...direct, modelMs: 0, cost: batched.cost });
    expect(Number(batched.cost.amount) * 2).toBe(Number(direct.cost.amount));
  }
  await batches.deleteFiles(ref, state.files, signal);
  expect(server.batches.inspect().files).toEqual([]);
});
