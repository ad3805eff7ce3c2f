import { createServer, type RequestListener, type Server } from 'node:http';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBatchClient, TIMEOUTS } from '../../../src/models/batches/batch-client.ts';
import { SubmissionError } from '../../../src/models/batches/submission-error.ts';
import { createTransport } from '../../../src/models/transport.ts';
import { callOf, modelErrorOf, modelsAt, TEST_KEY } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';

const transport = createTransport();
const { signal } = new AbortController();
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});
afterAll(() => transport.close());

/** A client of a scripted server, with a timeout in milliseconds. */
async function clientOf(listener: RequestListener, waitMs = TIMEOUTS.request) {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const address = started.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const connection = {
    apiKey: TEST_KEY,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    transport,
    redact: (text: string) => text.replaceAll(TEST_KEY, '[key]'),
  };
  return createBatchClient(connection, {}, { request: waitMs, upload: waitMs, silence: waitMs });
}

const poll = { method: 'GET', path: '/batches/b', signal } as const;

test('an unanswered request ends after its time, and a batch may have been created', async () => {
  const client = await clientOf(() => {}, 50);
  expect(await modelErrorOf(client.ask(poll, z.unknown()))).toMatchObject({ code: 'model_timeout', retryable: true });
  const error = await client.create({ path: '/batches', json: {}, signal }, z.unknown()).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(SubmissionError);
  expect(error).toMatchObject({ mayExist: true, cause: { code: 'model_timeout' } });
});

test('a silent download ends after a time', async () => {
  const client = await clientOf((_req, res) => void res.writeHead(200).write('{"a":1}\n'), 2_000);
  const seen: string[] = [];
  const read = (async () => {
    for await (const chunk of client.download(poll)) seen.push(Buffer.from(chunk).toString());
  })();
  expect(await modelErrorOf(read)).toMatchObject({ code: 'model_timeout', retryable: true });
  expect(seen).toEqual(['{"a":1}\n']);
});

test('a response without a batch is an error, and the batch may have been created', async () => {
  const client = await clientOf((_req, res) => void res.end('<html>It works!</html>'));
  const shape = z.object({ id: z.string() });
  expect(await modelErrorOf(client.ask(poll, shape))).toMatchObject({ code: 'model_unavailable' });
  const error = await client.create({ path: '/batches', json: {}, signal }, shape).catch((thrown) => thrown);
  expect(error).toMatchObject({ mayExist: true });
});

test('keys are removed from provider messages', async () => {
  const client = await clientOf((_req, res) => {
    res.writeHead(401).end(JSON.stringify({ error: { message: `Incorrect API key provided: ${TEST_KEY}` } }));
  });
  const error = await modelErrorOf(client.ask(poll, z.unknown()));
  expect(error).toMatchObject({ code: 'model_authentication', message: 'Incorrect API key provided: [key]' });
});

test('a file by an address is in the batch as it would be in the call', async () => {
  const openai = await startOpenAiServer();
  const models = modelsAt({ openai: openai.baseUrl }, { allowPrivate: 'loopback' });
  await clientOf((_req, res) => void res.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4'));
  const address = server?.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const file = { type: 'file' as const, media_type: 'application/pdf', url: `http://127.0.0.1:${port}/a.pdf` };
  const call = callOf('openai/gpt-4o', { input: [{ role: 'user', content: [file] }] });
  await models.generate(call);
  expect(JSON.parse((await models.batches.toLine(call, 'id')).text).body).toEqual(openai.calls.at(-1)?.body);
  await models.close();
  await openai.close();
});

test('a stand-in in its own process controls and reports its batches over HTTP', async () => {
  const openai = await startOpenAiServer();
  const control = async (path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`http://127.0.0.1:${openai.port}${path}`, init)).json();
  };
  await control('/__batches', { completeMs: null });
  expect(openai.batches.behaviour).toEqual({ completeMs: null });
  expect(await control('/__batches')).toEqual({ created: 0, batches: [], files: [] });
  await control('/__batches/end', {});
  await openai.close();
});
