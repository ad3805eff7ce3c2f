import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ClosableModels, ModelCall } from '../../src/models/model.ts';
import { callOf, modelErrorOf, modelsAt, streamed, textsOf } from '../support/providers/models.ts';

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
  /** Default: 5 and 2. Null if unknown. */
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
      'JSON that is not an object': { bytes: '"Hello"', fault: 'it is not a JSON object', tokens: null },
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

let models: ClosableModels;
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
  models = modelsAt({ openai: url, 'openai-compatible': url, mistral: url, anthropic: url, google: url });
});
afterAll(async () => {
  await models.close();
  server.closeAllConnections();
  server.close();
});

const TOOLS = ['get_weather', 'get_time'].map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));

for (const [names, forms] of FORMS)
  describe.each(names)('%s', (model) => {
    test.each(Object.entries(forms))('%s', async (_, given) => {
      const { output = 'Hello', toolCalls = [], skipped = [], fault } = given;
      form = given;
      const isKnown = given.tokens !== null;
      const hasPrice = isKnown && !model.startsWith('openai-compatible/');
      const cost = { amount: hasPrice ? expect.stringMatching(/^0\.0+\d+$/) : null };
      const tokens = isKnown ? { input: 5, output: 2, total: 7 } : null;
      const stream = streamed(model, { tools: TOOLS });
      calls = 0;
      for (const call of [callOf(model, { tools: TOOLS }), stream.call] satisfies ModelCall[])
        if (fault === undefined) {
          const response = await models.generate(call);
          expect(response).toMatchObject({ output, toolCalls, tokens, cost });
          expect(response.toolCalls).toHaveLength(toolCalls.length);
          for (const { id } of response.toolCalls) expect(id).toMatch(/./);
          expect(response.skipped ?? []).toEqual(skipped);
        } else {
          const error = await modelErrorOf(models.generate(call));
          expect(error).toMatchObject({
            code: 'model_unavailable',
            message: `The provider's response was not understood, and is not requested again: ${fault}.`,
            retryable: false,
            response: given.bytes.replace('\uFEFF', ''),
            spent: { tokens, cost },
          });
        }
      expect(calls).toBe(2);
      if (fault === undefined) expect(textsOf(stream.deltas).join('')).toBe(output);
    });
  });
