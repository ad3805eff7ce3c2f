import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../src/domain/prompts/messages.ts';
import { type AllStandIns, startAllStandIns } from '../support/providers/all.ts';
import { callOf, modelErrorOf } from '../support/providers/models.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const MIB = 1024 * 1024;

let standIns: AllStandIns;
let requests: string[];
let serve: (res: ServerResponse) => void;
let base: string;

const files = createServer((req, res) => {
  requests.push(`${req.method} ${req.url}`);
  serve(res);
});

beforeAll(async () => {
  standIns = await startAllStandIns({ allowPrivate: 'loopback' });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const address = files.address();
  if (typeof address !== 'object' || address === null) throw new Error('It does not listen.');
  base = `http://127.0.0.1:${address.port}`;
});

afterAll(async () => {
  await standIns.close();
  files.closeAllConnections();
  await new Promise((resolve) => files.close(resolve));
});

beforeEach(() => {
  requests = [];
  serve = (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
});

const asking = (media_type: string, ...urls: string[]): ChatMessage[] => [
  { role: 'user', content: urls.map((url) => ({ type: 'file', media_type, url })) },
];
const sent = async (model: string, input: ChatMessage[]) => {
  await standIns.models.generate(callOf(model, { input }));
  return JSON.stringify(standIns.lastCall(model).body);
};
const errorOf = (input: ChatMessage[], model = 'google/gemini-2.5-flash') =>
  modelErrorOf(standIns.models.generate(callOf(model, { input })));

test.each(['openai/gpt-4o', 'anthropic/claude-sonnet-4-5'])("an image's address goes to %s intact", async (model) => {
  expect(await sent(model, asking('image/png', `${base}/a.png?key=secret`))).toContain(`"${base}/a.png?key=secret"`);
  expect(requests).toEqual([]);
});

test("a document's address goes to Anthropic intact", async () => {
  const url = 'https://files.invalid/a.pdf';
  expect(await sent('anthropic/claude-sonnet-4-5', asking('application/pdf', url))).toContain(
    `"source":{"type":"url","url":"${url}"}`,
  );
});

test.each(['image/png', 'application/pdf'])('a public address of %s goes to Gemini intact', async (type) => {
  const fileUri = 'https://files.invalid/a';
  const body = await sent('google/gemini-2.5-flash', asking(type, fileUri));
  expect(body).toContain(JSON.stringify({ fileData: { mimeType: type, fileUri } }));
});

test.each(['openai-compatible/m', 'google/gemini-2.5-flash'])('an image is fetched for %s, once', async (model) => {
  const body = await sent(model, [
    ...asking('image/png', `${base}/a.png?x=1`, `${base}/b.png`, `${base}/a.png?x=1`),
    { role: 'assistant', content: 'Yes?' },
    ...asking('image/png', `${base}/b.png`),
  ]);
  expect(body.split(PNG.toString('base64'))).toHaveLength(5);
  expect(requests.sort()).toEqual(['GET /a.png?x=1', 'GET /b.png']);
});

test("a document is fetched for OpenAI, and a sound's type can be a family", async () => {
  serve = (res) => res.writeHead(200, { 'content-type': 'application/pdf; charset=x' }).end('%PDF');
  expect(await sent('openai/gpt-4o', asking('application/pdf', `${base}/a.pdf`))).toContain(
    `data:application/pdf;base64,${Buffer.from('%PDF').toString('base64')}`,
  );
  serve = (res) => res.writeHead(200, { 'content-type': 'image/webp' }).end(PNG);
  expect(await sent('google/gemini-2.5-flash', asking('image/*', `${base}/a`))).toContain('"mimeType":"image/webp"');
});

test.each([['application/octet-stream'], ['image/png'], ['IMAGE/PNG'], [undefined]])(
  'a server can call an image %s',
  async (type) => {
    serve = (res) => res.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(PNG);
    expect(await sent('google/gemini-2.5-flash', asking('image/png', `${base}/a`))).toContain('"mimeType":"image/png"');
  },
);

describe('a file is refused', () => {
  test('of another type', async () => {
    serve = (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    const error = await errorOf(asking('image/png', `${base}/a?key=secret`));
    expect(error).toMatchObject({ code: 'model_invalid_request', retryable: false });
    expect(error.message).toContain('it is text/html, not image/png');
    expect(error.message).not.toContain('secret');
  });

  test('above 20 MiB, and not at 20 MiB', async () => {
    serve = (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(20 * MIB, 1));
    expect((await sent('google/gemini-2.5-flash', asking('image/png', `${base}/a`))).length).toBeGreaterThan(20 * MIB);
    serve = (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(20 * MIB + 1, 1));
    expect(await errorOf(asking('image/png', `${base}/a`))).toMatchObject({
      code: 'model_invalid_request',
      message: expect.stringContaining(`larger than ${20 * MIB} bytes`),
    });
  });

  test('with others, if too large together', async () => {
    serve = (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(8 * MIB, 1));
    expect(await errorOf(asking('image/png', `${base}/a`, `${base}/b`, `${base}/c`))).toMatchObject({
      code: 'model_invalid_request',
      message: expect.stringContaining('together'),
    });
  });

  test('too large by repetition, though it is fetched once', async () => {
    serve = (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(3 * MIB, 1));
    const named = (times: number) => asking('image/png', ...Array<string>(times).fill(`${base}/a`));
    expect((await sent('google/gemini-2.5-flash', named(6))).length).toBeGreaterThan(18 * MIB);
    expect(await errorOf(named(7))).toMatchObject({
      code: 'model_invalid_request',
      retryable: false,
      message: expect.stringContaining('counted once for each part that names them'),
    });
    // The first time with room for a small file, for which it is too large.
    expect(requests).toEqual(Array(4).fill('GET /a'));
  });

  test.each([
    [404, 'model_invalid_request'],
    [302, 'model_invalid_request'],
    [500, 'model_unavailable'],
    [429, 'model_unavailable'],
  ])('whose server says %i', async (status, code) => {
    serve = (res) => res.writeHead(status, { location: `${base}/b` }).end();
    const error = await errorOf(asking('image/png', `${base}/a`));
    expect(error).toMatchObject({ code, message: expect.stringContaining(`HTTP ${status}`) });
    expect(requests).toEqual(['GET /a']);
  });

  test('whose server hangs up', async () => {
    serve = (res) => res.destroy();
    expect(await errorOf(asking('image/png', `${base}/a`))).toMatchObject({
      code: 'model_unavailable',
      retryable: true,
    });
  });

  test('whose server stalls, at the time limit of the call', async () => {
    serve = (res) => res.writeHead(200, { 'content-type': 'image/png' }).write('x');
    const call = callOf('google/gemini-2.5-flash', { input: asking('image/png', `${base}/a`), timeoutMs: 200 });
    expect(await modelErrorOf(standIns.models.generate(call))).toMatchObject({ code: 'model_timeout' });
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/a',
    'https://[fd00:ec2::254]/a',
    'http://192.0.2.1/a',
    'ftp://127.0.0.1/a',
  ])('at %s', async (url) => {
    const model = 'openai-compatible/m';
    const calls = standIns.of(model).callCount;
    expect(await errorOf(asking('image/png', url), model)).toMatchObject({
      code: 'model_invalid_request',
      retryable: false,
    });
    expect(standIns.of(model).callCount).toBe(calls);
  });

  test('on this machine unless the operator allows it', async () => {
    const strict = await startAllStandIns();
    const call = callOf('openai-compatible/m', { input: asking('image/png', `${base}/a`) });
    expect(await modelErrorOf(strict.models.generate(call))).toMatchObject({ code: 'model_invalid_request' });
    expect(requests).toEqual([]);
    await strict.close();
  });
});
