import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChatMessage } from '../../src/domain/prompts/messages.ts';
import { longestBlock } from '../support/event-loop.ts';
import { type AllStandIns, MODELS, startAllStandIns } from '../support/providers/all.ts';
import { callOf, modelsAt, streamed } from '../support/providers/models.ts';

const MIB = 1024 * 1024;
/** Neither positions of marks, nor characters that JSON escapes, may change on the way. */
const LONG = `“begin” ${'é\n"\\\u2028😀\u0000x'.repeat(60_000)} end`;
const LONG_ASCII = `begin ${'lorem ipsum '.repeat(60_000)}end`;
const PDF = Buffer.concat([Buffer.from('%PDF-1.7'), Buffer.alloc(MIB, 'ab1e300')]).toString('base64');

let standIns: AllStandIns;

beforeAll(async () => {
  standIns = await startAllStandIns();
});
afterAll(() => standIns.close());

/** Messages with a text or a file in every possible position. */
const messages = (text: string, other: string, data: string): ChatMessage[] => [
  { role: 'system', content: text },
  { role: 'user', content: [{ type: 'text', text: other }, ...filesOf(data)] },
  { role: 'assistant', content: [{ type: 'text', text: other }, CALL] },
  { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'look', output: text }] },
  { role: 'user', content: text },
];
const CALL = { type: 'tool_call' as const, id: 'call_1', name: 'look', input: { at: 'it' } };
const filesOf = (data: string) => [
  { type: 'file' as const, media_type: 'application/pdf', filename: 'a.pdf', data },
  { type: 'file' as const, media_type: 'image/png', data },
];
const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }];

describe.each(MODELS)('long texts and files for %s', (model) => {
  test.each(['whole', 'streamed'])('are sent as short ones are, %s', async (kind) => {
    const bodyOf = async (input: ChatMessage[]) => {
      const call = { input, tools };
      await standIns.models.generate(kind === 'whole' ? callOf(model, call) : streamed(model, call).call);
      return standIns.lastCall(model).body;
    };
    const [SHORT, OTHER, DATA] = ['short text', 'other text', 'QUJD'];
    const body = await bodyOf(messages(LONG, LONG_ASCII, PDF));
    const expected = JSON.stringify(await bodyOf(messages(SHORT, OTHER, DATA)))
      .replaceAll(SHORT, () => JSON.stringify(LONG).slice(1, -1))
      .replaceAll(OTHER, LONG_ASCII)
      .replaceAll(DATA, PDF);
    expect(JSON.stringify(body) === JSON.stringify(JSON.parse(expected))).toBe(true);
  });
});

test('spaces around a long text are handled like those around a short one', async () => {
  const model = 'anthropic/claude-sonnet-4-5';
  const spaces = ' '.repeat(3_000);
  const sent = async (text: string) => {
    const input: ChatMessage[] = [
      { role: 'user', content: 'Go on' },
      { role: 'assistant', content: `${spaces}${text}${spaces}` },
    ];
    await standIns.models.generate(callOf(model, { input }));
    return JSON.stringify(standIns.lastCall(model).body);
  };
  const long = 'word '.repeat(30_000).trim();
  expect((await sent(long)).replace(long, 'short') === (await sent('short'))).toBe(true);
});

test('a file of megabytes does not block the process for long', async () => {
  const bytes = Buffer.alloc(20 * MIB, 1);
  const files = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/pdf' }).end(bytes);
  });
  let received = 0;
  let announced = 0;
  const model = createServer((request, response) => {
    announced = Number(request.headers['content-length']);
    request.on('data', (piece: Buffer) => {
      received += piece.length;
    });
    request.on('end', () => {
      const message = { role: 'assistant', content: 'ok' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 0, model: 'm', choices }));
    });
  });
  const [filesPort, modelPort] = await Promise.all(
    [files, model].map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  const models = modelsAt({ 'openai-compatible': `http://127.0.0.1:${modelPort}/v1` }, { allowPrivate: 'loopback' });
  const url = `http://127.0.0.1:${filesPort}/a.pdf`;
  const input: ChatMessage[] = [{ role: 'user', content: [{ type: 'file', media_type: 'application/pdf', url }] }];
  const before = process.threadCpuUsage();
  JSON.stringify(JSON.parse(JSON.stringify({ file: bytes.toString('base64') })));
  const { user, system } = process.threadCpuUsage(before);
  const parsedAgainMs = (user + system) / 1_000;
  try {
    const { blockMs } = await longestBlock(async () => {
      received = 0;
      await models.generate(callOf('openai-compatible/m', { input }));
    }, parsedAgainMs / 2);
    expect(received).toBeGreaterThan((20 * MIB * 4) / 3);
    expect(received).toBe(announced);
    // The SDK's JSON is not parsed and serialized again, which takes this long here.
    expect(blockMs).toBeLessThan(parsedAgainMs / 2);
  } finally {
    await models.close();
    for (const server of [files, model]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
});
