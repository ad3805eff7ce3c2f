import { createReadStream } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type BatchDirectory, batchDirectory } from '../../support/batches.ts';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import { startGoogleServer } from '../../support/providers/google.ts';
import { TEST_KEY } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';

// The stand-ins for batches are accurate as far as the providers' own clients can tell.

let openai: StandIn;
let anthropic: StandIn;
let google: StandIn;
let directory: BatchDirectory;

beforeAll(async () => {
  directory = await batchDirectory();
  openai = await startOpenAiServer();
  anthropic = await startAnthropicServer();
  google = await startGoogleServer();
});
beforeEach(() => {
  for (const server of [openai, anthropic, google]) server.batches.behave();
});
afterAll(async () => {
  await Promise.all([openai.close(), anthropic.close(), google.close(), directory.remove()]);
});

const messages = (content: string) => [{ role: 'user' as const, content }];

test("OpenAI's client", async () => {
  const client = new OpenAI({ apiKey: TEST_KEY, baseURL: openai.baseUrl, maxRetries: 0 });
  const lines = ['one', 'two'].map((prompt, nth) =>
    JSON.stringify({
      custom_id: `c-${nth}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'gpt-4o', messages: messages(prompt) },
    }),
  );
  const path = await directory.write('openai.jsonl', `${lines.join('\n')}\n`);
  const file = await client.files.create({ purpose: 'batch', file: createReadStream(path) });
  expect(file).toMatchObject({ object: 'file', purpose: 'batch', filename: 'openai.jsonl' });
  const created = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { a: 'b' },
  });
  expect(created).toMatchObject({ status: 'validating', metadata: { a: 'b' } });
  const done = await waitFor('the batch', async () => {
    const batch = await client.batches.retrieve(created.id);
    return batch.status === 'completed' ? batch : undefined;
  });
  expect(done.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  const output = await (await client.files.content(done.output_file_id ?? '')).text();
  expect(
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    {
      custom_id: 'c-0',
      response: { status_code: 200, body: { choices: [{ message: { content: 'Answer to: one' } }] } },
    },
    {
      custom_id: 'c-1',
      response: { status_code: 200, body: { choices: [{ message: { content: 'Answer to: two' } }] } },
    },
  ]);

  openai.batches.behave({ completeMs: null });
  const second = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  expect((await client.batches.cancel(second.id)).status).toBe('cancelling');
  await waitFor('the end', async () => (await client.batches.retrieve(second.id)).status === 'cancelled');
  const listed = await Array.fromAsync(client.batches.list({ limit: 1 }));
  expect(listed.map(({ id }) => id)).toEqual([second.id, created.id]);
  expect(await client.files.delete(file.id)).toMatchObject({ deleted: true });
  await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
});

test("Anthropic's client", async () => {
  const client = new Anthropic({ apiKey: TEST_KEY, baseURL: anthropic.baseUrl.replace(/\/v1$/, ''), maxRetries: 0 });
  const requests = ['one', 'two'].map((prompt, nth) => ({
    custom_id: `c-${nth}`,
    params: { model: 'claude-sonnet-4-5', max_tokens: 10, messages: messages(`${prompt} {[}] "quoted"`) },
  }));
  const created = await client.messages.batches.create({ requests });
  expect(created).toMatchObject({ type: 'message_batch', processing_status: 'in_progress' });
  const done = await waitFor('the batch', async () => {
    const batch = await client.messages.batches.retrieve(created.id);
    return batch.processing_status === 'ended' ? batch : undefined;
  });
  expect(done.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 0, canceled: 0, expired: 0 });
  const results = await Array.fromAsync(await client.messages.batches.results(created.id));
  expect(results).toMatchObject([
    {
      custom_id: 'c-0',
      result: { type: 'succeeded', message: { content: [{ text: 'Answer to: one {[}] "quoted"' }] } },
    },
    { custom_id: 'c-1', result: { type: 'succeeded', message: { usage: { service_tier: 'batch' } } } },
  ]);

  anthropic.batches.behave({ completeMs: null });
  const second = await client.messages.batches.create({ requests });
  expect((await client.messages.batches.cancel(second.id)).processing_status).toBe('canceling');
  await waitFor(
    'the end',
    async () => (await client.messages.batches.retrieve(second.id)).processing_status === 'ended',
  );
  const rest = await Array.fromAsync(await client.messages.batches.results(second.id));
  expect(rest.map(({ result }) => result.type)).toEqual(['succeeded', 'canceled']);
  const listed = await Array.fromAsync(client.messages.batches.list({ limit: 1 }));
  expect(listed.map(({ id }) => id)).toEqual([second.id, created.id]);
  expect(await client.messages.batches.delete(created.id)).toEqual({ id: created.id, type: 'message_batch_deleted' });
});

test("Google's client", async () => {
  const client = new GoogleGenAI({
    apiKey: TEST_KEY,
    httpOptions: { baseUrl: google.baseUrl.replace(/v1beta$/, ''), apiVersion: 'v1beta' },
  });
  const lines = ['one', 'two'].map((prompt, nth) =>
    JSON.stringify({ key: `c-${nth}`, request: { contents: [{ role: 'user', parts: [{ text: prompt }] }] } }),
  );
  const path = await directory.write('google.jsonl', `${lines.join('\n')}\n`);
  const file = await client.files.upload({
    file: path,
    config: { displayName: 'google.jsonl', mimeType: 'application/jsonl' },
  });
  expect(file).toMatchObject({ displayName: 'google.jsonl', state: 'ACTIVE' });
  const src = file.name ?? '';
  const created = await client.batches.create({ model: 'gemini-2.5-flash', src, config: { displayName: 'tag' } });
  expect(created).toMatchObject({ displayName: 'tag', state: 'JOB_STATE_PENDING' });
  const name = created.name ?? '';
  const done = await waitFor('the batch', async () => {
    const batch = await client.batches.get({ name });
    return batch.state === 'JOB_STATE_SUCCEEDED' ? batch : undefined;
  });
  const downloadPath = directory.at('results.jsonl');
  await client.files.download({ file: done.dest?.fileName ?? '', downloadPath });
  expect(
    (await directory.read('results.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { key: 'c-0', response: { candidates: [{ content: { parts: [{ text: 'Answer to: one' }] } }] } },
    { key: 'c-1', response: { modelVersion: 'gemini-2.5-flash' } },
  ]);

  google.batches.behave({ completeMs: null });
  const second = await client.batches.create({ model: 'gemini-2.5-flash', src, config: { displayName: 'two' } });
  await client.batches.cancel({ name: second.name ?? '' });
  await waitFor(
    'the end',
    async () => (await client.batches.get({ name: second.name ?? '' })).state === 'JOB_STATE_CANCELLED',
  );
  const listed = await Array.fromAsync(await client.batches.list({ config: { pageSize: 1 } }));
  expect(listed.map(({ displayName }) => displayName)).toEqual(['tag', 'two']);
  await client.files.delete({ name: src });
  await expect(client.files.get({ name: src })).rejects.toMatchObject({ status: 403 });
});
