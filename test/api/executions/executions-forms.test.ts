import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readEvents, textOf } from '../../support/event-stream.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

// Formats in which servers are known to respond. Each is sent byte by byte as written here, whether or not a stream was requested.

const CHAT = ['openai/gpt-4o-mini', 'openai-compatible/m', 'mistral/mistral-small-latest'];
const MESSAGES = ['anthropic/claude-haiku-4-5'];
const GENERATE = ['google/gemini-2.5-flash'];

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
const call = (id: string, name: string, input: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: input },
});
const PARIS = { name: 'get_weather', input: { city: 'Paris' } };

const START = {
  type: 'message_start',
  message: {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  },
};
const text = (index: number, said: string) => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text: said } },
  { type: 'content_block_stop', index },
];
const STOP = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const message = (content: unknown, rest: object = { usage: { input_tokens: 5, output_tokens: 2 } }) => ({
  id: 'm1',
  type: 'message',
  role: 'assistant',
  model: 'c',
  content,
  stop_reason: 'end_turn',
  ...rest,
});

const COUNTED = { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 } };
const candidate = (parts: unknown[], rest: object = { finishReason: 'STOP' }) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
  modelVersion: 'g-1',
});

interface Form {
  /** The bytes of the body. */
  bytes: string;
  /** Default: `text/event-stream` or `application/json`, whichever fits; null for none. */
  type?: string | null;
  /** Default: Hello. */
  output?: string;
  toolCalls?: object[];
  /** Default: 5 and 2. Null: not known. */
  tokens?: null;
  skipped?: string[];
  /** The part that the error reports as not understood. Undefined for a valid response. */
  fault?: string;
}

const FORMS: [string[], Record<string, Form>][] = [
  [
    CHAT,
    {
      'a last event that ends in a space': {
        bytes: sse(
          piece({ role: 'assistant', content: '' }),
          piece({ content: 'Hel' }),
          piece({ content: 'lo' }),
          END,
          '[DONE] ',
        ),
      },
      'an empty line of data': { bytes: `${sse(piece({ content: 'Hello' }), '', END, '')}data:\n\ndata: [DONE]\n\n` },
      'comments, CRLF and no space after the colon': {
        bytes: `: PROCESSING\r\n\r\ndata:${json(piece({ content: 'Hello' }))}\r\n\r\ndata:${json(END)}\r\n\r\ndata:[DONE]\r\n\r\n`,
      },
      'a byte order mark': { bytes: `\uFEFF${sse(piece({ content: 'Hello' }), END, '[DONE]')}` },
      'a last event without its end': { bytes: `${sse(piece({ content: 'Hello' }))}data: ${json(END)}` },
      'no [DONE]': { bytes: sse(piece({ content: 'Hello' }), END) },
      'no reason for the end, but [DONE]': {
        bytes: sse(piece({ content: 'Hello' }), { choices: [], usage: USED }, '[DONE]'),
      },
      'events that are none': {
        bytes: sse(piece({ content: 'Hel' }), 'keep-alive', 'null', piece({ content: 'lo' }), END, '[DONE]'),
        skipped: ['event that is not a JSON object'],
      },
      'an event of a kind that is not known': {
        bytes: sse({ object: 'router.metadata', region: 'eu' }, piece({ content: 'Hello' }), END, '[DONE]'),
        skipped: ['event router.metadata'],
      },
      'choices that are null': {
        bytes: sse({ ...piece({}), choices: null, usage: USED }, piece({ content: 'Hello' }), END, '[DONE]'),
        skipped: [],
      },
      'a stream without a content type': { bytes: sse(piece({ content: 'Hello' }), END, '[DONE]'), type: null },
      'a stream as plain text': { bytes: sse(piece({ content: 'Hello' }), END, '[DONE]'), type: 'text/plain' },
      'a stream that says it is JSON': {
        bytes: sse(piece({ content: 'Hello' }), END, '[DONE]'),
        type: 'application/json',
      },
      'pieces as JSON Lines': {
        bytes: `${json(piece({ content: 'Hel' }))}\n${json(piece({ content: 'lo' }))}\n${json(END)}\n`,
        type: 'application/x-ndjson',
      },
      'pieces as a list': { bytes: json([piece({ content: 'Hel' }), piece({ content: 'lo' }), END]) },
      'plain JSON': { bytes: json(chat({ role: 'assistant', content: 'Hello' })) },
      'plain JSON without a content type': { bytes: json(chat({ role: 'assistant', content: 'Hello' })), type: null },
      'plain JSON that says it is a stream': {
        bytes: `\n${json(chat({ role: 'assistant', content: 'Hello' }))}`,
        type: 'text/event-stream',
      },
      'plain JSON with a delta': {
        bytes: json({ ...chat({}), choices: [{ delta: { content: 'Hello' }, finish_reason: 'stop' }] }),
      },
      'plain JSON as before chat': {
        bytes: json({ ...chat({}), choices: [{ text: 'Hello', finish_reason: 'stop' }] }),
      },
      'plain JSON with fields of other types': {
        bytes: json({
          ...chat({
            role: 'model',
            content: 'Hello',
            refusal: false,
            tool_calls: null,
            annotations: 'none',
            reasoning_content: ['hm'],
          }),
          id: 7,
          created: 'now',
          model: null,
        }),
      },
      'a stream with fields of other types': {
        bytes: sse(
          {
            ...piece({
              role: 'model',
              content: 'Hello',
              refusal: false,
              tool_calls: {},
              reasoning_content: [{ text: 'hm' }],
            }),
            id: 7,
            created: 'now',
          },
          { ...END, choices: [{ index: '0', delta: null, finish_reason: 'stop' }] },
          '[DONE]',
        ),
      },
      'a whole message at the end of a stream': {
        bytes: sse(
          piece({ content: 'Hello' }),
          { choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }], usage: USED },
          '[DONE]',
        ),
      },
      'a list of parts': {
        bytes: json(
          chat({
            role: 'assistant',
            content: [
              { type: 'text', text: 'Hel' },
              { type: 'text', text: 'lo' },
            ],
          }),
        ),
      },
      'thoughts in a list of parts': {
        bytes: json(
          chat({
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
              { type: 'text', text: 'Hello' },
            ],
          }),
        ),
      },
      'thoughts in a list of parts, streamed': {
        bytes: sse(
          piece({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
          piece({ content: [{ type: 'text', text: 'Hel' }] }),
          piece({ content: 'lo' }),
          END,
          '[DONE]',
        ),
      },
      'reasoning as a list of parts, streamed': {
        bytes: sse(
          piece({ reasoning: [{ type: 'text', text: 'hm' }], reasoning_details: [{ type: 'x' }] }),
          piece({ content: 'Hello' }),
          END,
          '[DONE]',
        ),
      },
      'parts of kinds that are not known': {
        bytes: json(
          chat({
            role: 'assistant',
            content: [{ type: 'hologram', data: 'AAAA' }, { type: 'text', text: 'Hello' }, { shape: 1 }],
          }),
        ),
        skipped: ['part hologram', 'part without a type'],
      },
      'parts of kinds that are not known, streamed': {
        bytes: sse(
          piece({ content: [{ type: 'hologram', data: 'AAAA' }] }),
          piece({ content: 'Hello' }),
          END,
          '[DONE]',
        ),
        skipped: ['part hologram'],
      },
      'a tool call bit by bit': {
        bytes: sse(
          piece({ tool_calls: [{ index: 0, id: 'a1' }] }),
          piece({ tool_calls: [{ index: 0, type: 'function', function: { name: 'get_' } }] }),
          piece({ tool_calls: [{ index: 0, function: { name: 'weather', arguments: null } }] }),
          piece({ tool_calls: [{ index: 0, id: '', function: { arguments: '{"ci' } }] }),
          piece({ tool_calls: [{ index: 0, id: null, function: { name: '', arguments: 'ty":"Paris"}' } }] }),
          END,
          '[DONE]',
        ),
        output: '',
        toolCalls: [{ id: 'a1', ...PARIS }],
      },
      'tool calls with places as texts, and the name again each time': {
        bytes: sse(
          piece({ tool_calls: [{ index: '0', ...call('a1', 'get_weather', '{"city"') }] }),
          piece({ tool_calls: [{ index: '0', ...call('a1', 'get_weather', ':"Paris"}') }] }),
          piece({ tool_calls: [{ index: '1', ...call('a2', 'get_time', '{}') }] }),
          END,
          '[DONE]',
        ),
        output: '',
        toolCalls: [
          { id: 'a1', ...PARIS },
          { id: 'a2', name: 'get_time', input: {} },
        ],
      },
      'a tool call without an id, whose input is an object': {
        bytes: json(
          chat({ content: null, tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Paris' } } }] }),
        ),
        output: '',
        toolCalls: [PARIS],
      },
      'a tool call without an id, whose input is an object, streamed': {
        bytes: sse(
          piece({ tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Paris' } } }] }),
          END,
          '[DONE]',
        ),
        output: '',
        toolCalls: [PARIS],
      },
      'the one function call of before tools': {
        bytes: sse(
          piece({ function_call: { name: 'get_weather', arguments: '' } }),
          piece({ function_call: { arguments: '{"city":"Paris"}' } }),
          END,
          '[DONE]',
        ),
        output: '',
        toolCalls: [PARIS],
      },
      'a tool call of a kind that is not known': {
        bytes: json(
          chat({ content: 'Hello', tool_calls: [{ id: 'a1', type: 'custom', custom: { name: 'x', input: 'y' } }] }),
        ),
        skipped: ['tool call custom'],
      },
      'no usage': { bytes: json(chat({ role: 'assistant', content: 'Hello' }, {})), tokens: null },
      'no usage, streamed': { bytes: sse(piece({ content: 'Hello' }, 'stop'), '[DONE]'), tokens: null },
      'usage without counts': {
        bytes: json(chat({ role: 'assistant', content: 'Hello' }, { usage: {} })),
        tokens: null,
      },
      'usage that is null': {
        bytes: sse({ ...piece({ content: 'Hello' }, 'stop'), usage: null }, '[DONE]'),
        tokens: null,
      },
      'usage as texts': {
        bytes: json(
          chat(
            { role: 'assistant', content: 'Hello' },
            { usage: { prompt_tokens: '5', completion_tokens: '2', total_tokens: '7' } },
          ),
        ),
      },
      'usage in the words of the Responses API': {
        bytes: json(chat({ role: 'assistant', content: 'Hello' }, { usage: { input_tokens: 5, output_tokens: 2 } })),
      },
      'another form, with usage': { bytes: json({ result: 'Hello', usage: USED }), fault: 'it has no list "choices"' },
      'another form': {
        bytes: json({ output: [{ type: 'message', content: 'Hello' }] }),
        fault: 'it has no list "choices"',
        tokens: null,
      },
      'another form, streamed': {
        bytes: sse(
          { type: 'response.created' },
          { type: 'response.output_text.delta', delta: 'Hello' },
          { type: 'response.completed' },
        ),
        fault: 'it has no list "choices"',
        tokens: null,
      },
      'a choice without a message': {
        bytes: json({ choices: [{ index: 0 }], usage: USED }),
        fault: 'choices.0 has no "message"',
      },
      'nothing but parts that are not known': {
        bytes: json(chat({ content: [{ type: 'hologram' }] })),
        fault: 'it has nothing but part hologram',
      },
      'a tool call without a name': {
        bytes: json(chat({ content: 'Hello', tool_calls: [call('a1', '', '{}')] })),
        fault: 'tool_calls.0 has no name',
      },
      'a text that is not JSON': { bytes: 'Hello', type: 'text/plain', fault: 'it is not JSON', tokens: null },
      'JSON that is no object': { bytes: '"Hello"', fault: 'it is not a JSON object', tokens: null },
    },
  ],
  [
    MESSAGES,
    {
      'events without their names': { bytes: sse(START, ...text(0, 'Hello'), ...STOP) },
      'an end as OpenAI has it, and an empty line': { bytes: sse(START, '', ...text(0, 'Hello'), STOP[0], '[DONE] ') },
      'events of kinds that are not known': {
        bytes: sse(START, { type: 'ping' }, { type: 'weather_report', sun: 1 }, ...text(0, 'Hello'), ...STOP),
        skipped: ['event weather_report'],
      },
      'blocks that are not begun': {
        bytes: sse(
          START,
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
          ...STOP,
        ),
      },
      'blocks of kinds that are not known': {
        bytes: json(
          message([
            { type: 'hologram', data: 'A' },
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'Hello', citations: 'none' },
          ]),
        ),
        skipped: ['part hologram'],
      },
      'blocks of kinds that are not known, streamed': {
        bytes: sse(
          START,
          { type: 'content_block_start', index: 0, content_block: { type: 'hologram', text: 'x' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'not said' } },
          ...text(1, 'Hello'),
          ...STOP,
        ),
        skipped: ['part hologram'],
      },
      'thoughts without a signature': {
        bytes: json(
          message([
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'Hello' },
          ]),
        ),
      },
      'a text in place of blocks': { bytes: json(message('Hello')) },
      'plain JSON without a content type': { bytes: json(message([{ type: 'text', text: 'Hello' }])), type: null },
      'a stream without a content type': { bytes: sse(START, ...text(0, 'Hello'), ...STOP), type: null },
      'a tool call bit by bit': {
        bytes: sse(
          START,
          {
            type: 'content_block_start',
            index: '0',
            content_block: { type: 'tool_use', id: 't1', name: 'get_weather' },
          },
          { type: 'content_block_delta', index: '0', delta: { type: 'input_json_delta', partial_json: '{"city"' } },
          { type: 'content_block_delta', index: '0', delta: { type: 'input_json_delta', partial_json: ':"Paris"}' } },
          ...STOP,
        ),
        output: '',
        toolCalls: [{ id: 't1', ...PARIS }],
      },
      'no usage': { bytes: json(message([{ type: 'text', text: 'Hello' }], {})), tokens: null },
      'no usage, streamed': {
        bytes: sse({ type: 'message_start', message: {} }, ...text(0, 'Hello'), {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
        }),
        tokens: null,
      },
      'another form, with usage': {
        bytes: json({ completion: 'Hello', usage: { input_tokens: 5, output_tokens: 2 } }),
        fault: 'it has no list "content"',
      },
      'nothing but blocks that are not known': {
        bytes: json(message([{ type: 'hologram' }])),
        fault: 'it has nothing but part hologram',
      },
      'a tool call without a name': {
        bytes: json(message([{ type: 'tool_use', id: 't1', input: {} }])),
        fault: 'content.0 has no name',
      },
    },
  ],
  [
    GENERATE,
    {
      'an empty line of data and an end as OpenAI has it': {
        bytes: sse(candidate([{ text: 'Hel' }], {}), '', { ...candidate([{ text: 'lo' }]), ...COUNTED }, '[DONE] '),
      },
      'a list in place of a stream': {
        bytes: json([candidate([{ text: 'Hel' }], {}), { ...candidate([{ text: 'lo' }]), ...COUNTED }]),
      },
      'plain JSON without a content type': {
        bytes: json({ ...candidate([{ text: 'Hello' }]), ...COUNTED }),
        type: null,
      },
      'a stream without a content type': { bytes: sse({ ...candidate([{ text: 'Hello' }]), ...COUNTED }), type: null },
      'parts of kinds that are not known': {
        bytes: json({
          ...candidate([
            { hologram: {} },
            { text: 'hm', thought: true },
            { text: 'Hello', thoughtSignature: 's' },
            { executableCode: 'x' },
          ]),
          ...COUNTED,
        }),
        skipped: ['part hologram'],
      },
      'parts of kinds that are not known, streamed': {
        bytes: sse(candidate([{ inlineData: 7 }], {}), { ...candidate([{ text: 'Hello' }]), ...COUNTED }),
        skipped: ['part inlineData'],
      },
      'an event of a kind that is not known': {
        bytes: sse({ type: 'notice' }, { ...candidate([{ text: 'Hello' }]), ...COUNTED }),
        skipped: ['event notice'],
      },
      'fields of other types': {
        bytes: json({
          candidates: [
            {
              content: { parts: [{ text: 'Hello' }] },
              finishReason: 'STOP',
              safetyRatings: 'fine',
              groundingMetadata: [],
              index: 0,
            },
          ],
          ...COUNTED,
        }),
      },
      'a tool call': {
        bytes: json({ ...candidate([{ functionCall: { name: 'get_weather', args: { city: 'Paris' } } }]), ...COUNTED }),
        output: '',
        toolCalls: [PARIS],
      },
      'no usage': { bytes: json(candidate([{ text: 'Hello' }])), tokens: null },
      'usage without counts, streamed': {
        bytes: sse({ ...candidate([{ text: 'Hello' }]), usageMetadata: {} }),
        tokens: null,
      },
      'another form': { bytes: json({ reply: 'Hello' }), fault: 'it has no "candidates"', tokens: null },
      'nothing but parts that are not known': {
        bytes: json({ ...candidate([{ hologram: {} }]), ...COUNTED }),
        fault: 'it has nothing but part hologram',
      },
    },
  ],
];

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

const TOOLS = [
  { name: 'get_weather', input_schema: { type: 'object', properties: {} } },
  { name: 'get_time', input_schema: { type: 'object', properties: {} } },
];

/** Runs it in one piece and as a stream. @returns the record, and what its reader has read */
async function run(model: string, given: Form) {
  form = given;
  const body = { draft: { template: 'Hi', model, tools: TOOLS } };
  calls = 0;
  const whole = (await service.call('POST', '/executions', { body })).body;
  const callsForWhole = calls;
  calls = 0;
  const reader = await readEvents(service, '/executions', { method: 'POST', body });
  await reader.ended;
  const streamed = reader.events.at(-1)?.data.execution;
  return { records: [whole, streamed], calls: [callsForWhole, calls], read: textOf(reader.events) };
}

for (const [models, forms] of FORMS)
  describe.each(models)('%s', (model) => {
    test.each(Object.entries(forms))('%s', async (_, given) => {
      const { output = 'Hello', toolCalls = [], skipped = [], fault } = given;
      const { records, calls: made, read } = await run(model, given);
      expect(made).toEqual([1, 1]);
      const isKnown = given.tokens !== null;
      for (const record of records) {
        const [only, ...more] = record.calls;
        expect(more).toEqual([]);
        expect(record.tokens).toMatchObject(isKnown ? { input: 5, output: 2, total: 7 } : { total: 0 });
        expect(record.tokens_unknown).toBe(isKnown ? undefined : true);
        expect(only.tokens).toEqual(isKnown ? record.tokens : null);
        const hasPrice = isKnown && !model.startsWith('openai-compatible/');
        expect(record.cost.amount).toEqual(hasPrice ? expect.stringMatching(/^0\.0+\d+$/) : null);
        expect(only.cost.amount).toEqual(record.cost.amount);
        if (fault === undefined) {
          expect(record).toMatchObject({ status: 'completed', output, error: null });
          expect(record.tool_calls).toMatchObject(toolCalls);
          expect(record.tool_calls).toHaveLength(toolCalls.length);
          for (const { id } of record.tool_calls) expect(id).toMatch(/./);
          expect(only.skipped ?? []).toEqual(skipped);
        } else {
          const said = `The provider's response was not understood, and is not requested again: ${fault}.`;
          expect(record).toMatchObject({ status: 'failed', error: { code: 'model_unavailable', message: said } });
          expect(only).toMatchObject({ error: record.error, response: given.bytes.replace('\uFEFF', '') });
        }
      }
      if (fault === undefined) expect(read).toBe(output);
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
