import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readEvents, textOf } from '../../support/event-stream.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

// How a response in an unusual form ends. The forms themselves are in test/models/response-forms.test.ts.

const json = (value: unknown) => JSON.stringify(value);
const sse = (...events: unknown[]) =>
  events.map((event) => `data: ${typeof event === 'string' ? event : json(event)}\n\n`).join('');

const USED = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const piece = (delta: unknown, finish_reason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  model: 'm-1',
  choices: [{ index: 0, delta, finish_reason }],
});
const END = { ...piece({}, 'stop'), usage: USED };
const chat = (message: unknown, rest: object = { usage: USED }) => ({
  id: 'c1',
  object: 'chat.completion',
  model: 'm-1',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  ...rest,
});

interface Form {
  /** The bytes of the body. */
  bytes: string;
  /** Default: `text/event-stream` or `application/json`, whichever fits; null for none. */
  type?: string | null;
}

let service: TestService;
let server: Server;
let form: Form;
let calls = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    calls += 1;
    request.resume();
    const usual = /^[^{["<]/.test(form.bytes.trimStart()) ? 'text/event-stream' : 'application/json';
    const type = form.type === undefined ? usual : form.type;
    response.writeHead(200, type === null ? {} : { 'content-type': type });
    for (const byte of Buffer.from(form.bytes)) response.write(Buffer.of(byte));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  service = await startTestService({
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: url,
    OPENAI_COMPATIBLE_BASE_URL: url,
    MISTRAL_API_KEY: 'sk-test',
    MISTRAL_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: url,
    GOOGLE_GENERATIVE_AI_API_KEY: 'sk-test',
    GOOGLE_GENERATIVE_AI_BASE_URL: url,
  });
});
afterAll(async () => {
  await service?.stop();
  server?.closeAllConnections();
  server?.close();
});

/** Runs it in one piece and as a stream. @returns the records, and what the reader of the stream has read */
async function run(model: string, given: Form) {
  form = given;
  const body = { draft: { template: 'Hi', model } };
  const whole = (await service.call('POST', '/executions', { body })).body;
  const reader = await readEvents(service, '/executions', { method: 'POST', body });
  await reader.ended;
  return { records: [whole, reader.events.at(-1)?.data.execution], read: textOf(reader.events) };
}

describe.each(['openai/gpt-4o-mini', 'openai-compatible/m'])('%s', (model) => {
  test('shows what it skipped, and unknown tokens', async () => {
    const parts = [
      { type: 'hologram', data: 'AAAA' },
      { type: 'text', text: 'Hello' },
    ];
    const { records, read } = await run(model, { bytes: json(chat({ content: parts }, {})) });
    expect(read).toBe('Hello');
    for (const record of records) {
      expect(record).toMatchObject({
        status: 'completed',
        output: 'Hello',
        tokens: { total: 0 },
        tokens_unknown: true,
      });
      expect(record).toMatchObject({ cost: { amount: null }, calls: [{ tokens: null, skipped: ['part hologram'] }] });
    }
  });

  test('fails with a response that was not understood, and its bill', async () => {
    const bytes = json({ result: 'Hello', usage: USED });
    const { records } = await run(model, { bytes });
    const message =
      'The provider\'s response was not understood, and is not requested again: it has no list "choices".';
    for (const record of records) {
      const { tokens, cost, calls: made } = record;
      expect(record).toMatchObject({ status: 'failed', error: { code: 'model_unavailable', message } });
      expect(tokens).toMatchObject({ input: 5, output: 2, total: 7 });
      expect(cost.amount).toEqual(model.startsWith('openai/') ? expect.stringMatching(/^0\.0+\d+$/) : null);
      expect(made).toMatchObject([{ error: record.error, response: bytes, tokens, cost: { amount: cost.amount } }]);
      expect(record).not.toHaveProperty('tokens_unknown');
    }
  });
});

test.each([
  ['an HTML page', { bytes: '<html><title>502 Bad Gateway</title></html>', type: 'text/html; charset=utf-8' }],
  ['one that is called JSON', { bytes: '\n<!DOCTYPE html>\n<p>Busy' }],
  ['a text that is called a page', { bytes: 'upstream error', type: 'text/html' }],
])('%s comes from a gateway, not a model, and is retried', async (_, page) => {
  form = page;
  calls = 0;
  const body = { draft: { template: 'Hi', model: 'openai-compatible/m' } };
  const ended = service.call('POST', '/executions', { body });
  await waitFor('the first call', async () => calls === 1);
  form = { bytes: json(chat({ content: 'Hello' })) };
  const { body: record } = await ended;
  expect(record).toMatchObject({ status: 'completed', output: 'Hello', tokens: { total: 7 } });
  expect(record.calls).toHaveLength(2);
  expect(record).not.toHaveProperty('tokens_unknown');
  expect(record.calls[0]).toMatchObject({
    error: { code: 'model_unavailable', message: expect.stringContaining('HTML page') },
    tokens: null,
  });
  expect(record.calls[0]).not.toHaveProperty('response');
});

test('the event of an execution, too, shows its tokens as unknown', async () => {
  await service.call('POST', '/prompts', { body: { name: 'told', template: 'Hi', model: 'openai-compatible/m' } });
  const dataOf = async (rest: object) => {
    form = { bytes: json(chat({ content: 'Hello' }, rest)) };
    const { body } = await service.call('POST', '/executions', { body: { prompt_name: 'told' } });
    const { body: events } = await service.call('GET', '/events?event=execution.completed&limit=100');
    return events.data.find(({ data }: { data: { execution_id: string } }) => data.execution_id === body.id).data;
  };
  const unknown = await dataOf({});
  expect(unknown).toMatchObject({ tokens: { total: 0 }, tokens_unknown: true, cost: { amount: null } });
  const known = await dataOf({ usage: USED });
  expect(known.tokens.total).toBe(7);
  expect(known).not.toHaveProperty('tokens_unknown');
  expect(Object.keys(unknown).filter((key) => key !== 'tokens_unknown')).toEqual(Object.keys(known));
});

test('so do the results of an evaluation, which name what a response lacks', async () => {
  await service.call('POST', '/prompts', {
    body: { name: 'tried', template: 'Hi {{ n }}', model: 'openai-compatible/m' },
  });
  const parts = [{ type: 'hologram' }, { type: 'text', text: 'Hello' }];
  const evaluate = async (rest: object) => {
    form = { bytes: json(chat({ content: parts }, rest)) };
    const { body } = await service.call('POST', '/evaluations', {
      body: {
        prompt_name: 'tried',
        examples: [{ variables: { n: 1 } }, { variables: { n: 2 } }],
        evaluators: [{ type: 'contains', values: ['Hello'] }],
      },
    });
    const read = async () => (await service.call('GET', `/evaluations/${body.id}`)).body;
    await waitFor('the evaluation', async () => (await read()).status === 'completed');
    const { body: results } = await service.call('GET', `/evaluations/${body.id}/results`);
    const csv = (await service.call('GET', `/evaluations/${body.id}/results?format=csv`)).body as string;
    const { body: summary } = await service.call('GET', `/evaluations/${body.id}/results/summary`);
    return { run: await read(), results: results.data, csv, summary };
  };
  const unknown = await evaluate({});
  expect(unknown.run).toMatchObject({ tokens: { total: 0 }, tokens_unknown_calls: 2, cost: { amount: null } });
  expect(unknown.results).toMatchObject([
    { output: 'Hello', tokens: { total: 0 }, tokens_unknown: true, skipped: ['part hologram'] },
    { tokens_unknown: true },
  ]);
  expect(unknown.csv).toContain(',,,,');
  expect(unknown.summary).toMatchObject({ tokens: 0, tokens_unknown_calls: 2 });
  const known = await evaluate({ usage: USED });
  expect(known.run).toMatchObject({ tokens: { total: 14 }, tokens_unknown_calls: 0 });
  expect(known.results[0]).toMatchObject({ tokens: { total: 7 }, skipped: ['part hologram'] });
  expect(known.results[0]).not.toHaveProperty('tokens_unknown');
  expect(known.csv).toContain(',5,2,');
});

describe('in the formats of OpenAI', () => {
  beforeAll(async () => {
    await service.call('POST', '/prompts', { body: { name: 'say', template: 'Hi', model: 'openai-compatible/m' } });
  });
  const ask = async (path: string, given: Form, body: object = {}) => {
    form = given;
    calls = 0;
    return service.call('POST', path, { body: { model: 'say', ...body } });
  };
  const USUAL = { bytes: `${sse(piece({ content: 'Hel' }), '', piece({ content: 'lo' }), END)}data: [DONE] \n\n` };
  const UNCOUNTED = { bytes: json(chat({ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }, {})) };
  const UNKNOWN = { bytes: json({ reply: 'Hello' }) };
  const STREAM = { stream: true, stream_options: { include_usage: true } };

  test('/chat/completions', async () => {
    const whole = await ask('/chat/completions', UNCOUNTED, { messages: [] });
    expect(whole).toMatchObject({ status: 200, body: { choices: [{ message: { content: 'Hello' } }] } });
    expect(whole.body.usage).toMatchObject({ total_tokens: 0, tokens_unknown: true });
    const counted = await ask('/chat/completions', USUAL, { messages: [] });
    expect(counted.body.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 2 });
    expect(counted.body.usage).not.toHaveProperty('tokens_unknown');
    expect(calls).toBe(1);
    const streamed = await ask('/chat/completions', USUAL, { messages: [], ...STREAM });
    expect(streamed.body).toMatch(/"content":"Hel"[\s\S]*"content":"lo"[\s\S]*"total_tokens":7[\s\S]*\[DONE\]/);
    const uncounted = await ask('/chat/completions', UNCOUNTED, { messages: [], ...STREAM });
    expect(uncounted.body).toMatch(/"content":"Hello"[\s\S]*\[DONE\]/);
    expect(uncounted.body).not.toContain('total_tokens');
    const failed = await ask('/chat/completions', UNKNOWN, { messages: [] });
    expect(failed).toMatchObject({ status: 500, body: { error: { code: 'model_unavailable' } } });
    expect(failed.body.error.message).toContain('it has no list "choices"');
    expect(calls).toBe(1);
  });

  test('/responses', async () => {
    const whole = await ask('/responses', UNCOUNTED, { input: [] });
    expect(whole).toMatchObject({ status: 200, body: { output: [{ content: [{ text: 'Hello' }] }], usage: null } });
    const counted = await ask('/responses', USUAL, { input: [] });
    expect(counted.body.usage).toMatchObject({ input_tokens: 5, output_tokens: 2 });
    const streamed = await ask('/responses', USUAL, { input: [], stream: true });
    expect(streamed.body).toMatch(/"delta":"Hel"[\s\S]*"delta":"lo"[\s\S]*response\.completed/);
    expect(calls).toBe(1);
    const failed = await ask('/responses', UNKNOWN, { input: [] });
    expect(failed).toMatchObject({ status: 500 });
    expect(calls).toBe(1);
  });
});
