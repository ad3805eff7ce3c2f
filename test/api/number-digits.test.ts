import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

const LONG = '12345678901234567890';
const MESSAGE = 'has more digits than a number can keep: send it as a string';
const JSON_BODY = { 'Content-Type': 'application/json' };

let service: TestService;
let server: Server;
let answer = '';
let sent: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      sent.push(body);
      const isStream = answer.startsWith('data:');
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' }).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  service = await startTestService({
    OPENAI_COMPATIBLE_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: url,
    GOOGLE_GENERATIVE_AI_API_KEY: 'sk-test',
    GOOGLE_GENERATIVE_AI_BASE_URL: url,
  });
  await service.call('POST', '/prompts', {
    body: { name: 'say', template: '{{ text }}', model: 'openai-compatible/m' },
  });
});
afterAll(async () => {
  await service?.stop();
  server?.closeAllConnections();
  server?.close();
});

describe('a number that would lose digits is refused by its field', () => {
  const MESSAGES = `[{"role":"assistant","content":[{"type":"tool_call","id":"1","name":"f","input":{"id":${LONG}}}]}]`;
  const RUN = `{"records":[{"model":"openai/gpt-4o","input":"Hi","output":"Ho","started_at":"2026-01-01T00:00:00Z","finished_at":"2026-01-01T00:00:01Z","tool_calls":[{"id":"1","name":"f","input":{"id":${LONG}}}]}]}`;

  test.each([
    [
      'variables',
      'POST',
      '/executions',
      `{"prompt_name":"say","variables":{"text":{"id":${LONG}}}}`,
      'variables.text.id',
    ],
    [
      'a fraction',
      'POST',
      '/executions',
      '{"prompt_name":"say","variables":{"text":3.141592653589793238}}',
      'variables.text',
    ],
    [
      'a double whose digits change',
      'POST',
      '/executions',
      '{"prompt_name":"say","variables":{"text":36028797018963968}}',
      'variables.text',
    ],
    [
      'messages',
      'POST',
      '/executions',
      `{"prompt_name":"say","variables":{"text":"a"},"messages":${MESSAGES}}`,
      'messages.0.content.0.input.id',
    ],
    [
      'a draft',
      'POST',
      '/executions',
      `{"draft":{"template":"a","model":"sandbox/echo","config":{"n":${LONG}}}}`,
      'draft.config.n',
    ],
    ['recorded runs', 'POST', '/executions/record', RUN, 'records.0.tool_calls.0.input.id'],
    [
      'prompts',
      'POST',
      '/prompts',
      `{"name":"x","template":"a","model":"sandbox/echo","config":{"n":[0,${LONG}]}}`,
      'config.n.1',
    ],
    [
      'examples',
      'POST',
      '/evaluations',
      `{"prompt_name":"say","examples":[{"variables":{"text":"a"},"expected":${LONG}}]}`,
      'examples.0.expected',
    ],
    ['scores', 'POST', '/scores', `{"name":"s","value":${LONG},"subject":{"execution_id":"exec_1"}}`, 'value'],
    [
      'chat completions',
      'POST',
      '/chat/completions',
      `{"model":"say","messages":[],"variables":{"text":${LONG}}}`,
      'variables.text',
    ],
    ['responses', 'POST', '/responses', `{"model":"say","input":[],"variables":{"text":${LONG}}}`, 'variables.text'],
  ])('%s', async (_, method, path, raw, field) => {
    const refused = await service.call(method, path, { raw, headers: JSON_BODY });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain(`${field}: ${MESSAGE}`);
  });

  test('JSON Lines', async () => {
    const raw = `{"variables":{"text":"a"}}\n{"variables":{"text":"b","id":${LONG}}}\n`;
    const refused = await service.call('PUT', '/datasets/lines', {
      raw,
      headers: { 'Content-Type': 'application/jsonl' },
    });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('2');
    expect(refused.body.error.message).toContain(`variables.id`);
    expect(refused.body.error.message).toContain(MESSAGE);
  });

  test('MCP', async () => {
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_prompt","arguments":{"prompt_name":"say","variables":{"text":${LONG}}}}}`;
    const response = await fetch(`${service.origin}/mcp`, {
      method: 'POST',
      headers: { ...JSON_BODY, Authorization: `Bearer ${service.key}`, Accept: 'application/json, text/event-stream' },
      body: message,
    });
    expect(await response.text()).toContain(MESSAGE);
  });
});

describe('a text keeps its digits', () => {
  test('a string, and CSV', async () => {
    answer = JSON.stringify({ choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] });
    const { body } = await service.call('POST', '/executions', {
      body: { prompt_name: 'say', variables: { text: LONG } },
    });
    expect(body.input).toBe(LONG);
    const raw = `text,expected\n${LONG},${LONG}\n`;
    const stored = await service.call('PUT', '/datasets/csv', { raw, headers: { 'Content-Type': 'text/csv' } });
    expect(stored.status).toBe(200);
    const { data } = (await service.call('GET', '/datasets/csv/examples')).body;
    expect(data).toMatchObject([{ variables: { text: LONG }, expected: LONG }]);
  });
});

describe('model output keeps its digits', () => {
  const ARGUMENTS = `{"id":${LONG},"n":1}`;
  const CHAT = {
    choices: [
      {
        message: { tool_calls: [{ id: 'a1', type: 'function', function: { name: 'f', arguments: ARGUMENTS } }] },
        finish_reason: 'tool_calls',
      },
    ],
  };
  const asStream = (...events: unknown[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

  const FORMS: [string, string, string][] = [
    ['arguments as a text', 'openai-compatible/m', JSON.stringify(CHAT)],
    [
      'arguments as an object',
      'openai-compatible/m',
      JSON.stringify(CHAT).replace(JSON.stringify(ARGUMENTS), ARGUMENTS),
    ],
    [
      'Anthropic',
      'anthropic/claude-haiku-4-5',
      `{"content":[{"type":"tool_use","id":"a1","name":"f","input":${ARGUMENTS}}],"stop_reason":"tool_use"}`,
    ],
    [
      'Anthropic, streamed',
      'anthropic/claude-haiku-4-5',
      asStream(
        { type: 'message_start', message: { content: [] } },
        { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a1', name: 'f', input: {} } },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: ARGUMENTS.slice(0, 12) },
        },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: ARGUMENTS.slice(12) },
        },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ),
    ],
    [
      'Google',
      'google/gemini-2.5-flash',
      `{"candidates":[{"content":{"parts":[{"functionCall":{"id":"a1","name":"f","args":${ARGUMENTS}}}]},"finishReason":"STOP"}]}`,
    ],
  ];
  const TOOLS = [{ name: 'f', input_schema: { type: 'object', properties: {} } }];

  test.each(FORMS)('in a tool call, which stays text and is sent back whole: %s', async (_, model, bytes) => {
    answer = bytes;
    const draft = { template: 'Hi', model, tools: TOOLS };
    const { body } = await service.call('POST', '/executions', { body: { draft } });
    expect(body).toMatchObject({ status: 'completed', tool_calls: [{ id: 'a1', name: 'f', input: ARGUMENTS }] });
    sent = [];
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_call', ...body.tool_calls[0] }] },
      { role: 'tool', content: [{ type: 'tool_result', id: 'a1', name: 'f', output: 'ok' }] },
    ];
    const next = await service.call('POST', '/executions', { body: { draft, messages } });
    expect(next.body.status).toBe('completed');
    // Texts of OpenAI are JSON in JSON.
    expect(sent[0]?.replaceAll('\\"', '"')).toContain(ARGUMENTS);
  });

  test('in the formats of OpenAI', async () => {
    answer = JSON.stringify(CHAT);
    const body = {
      model: 'say',
      variables: { text: 'a' },
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    };
    const chat = await service.call('POST', '/chat/completions', { body: { ...body, messages: [] } });
    const [toolCall] = chat.body.choices[0].message.tool_calls;
    expect(toolCall.function.arguments).toBe(ARGUMENTS);
    const responses = await service.call('POST', '/responses', {
      body: { model: 'say', variables: { text: 'a' }, input: [] },
    });
    expect(responses.body.output).toMatchObject([{ type: 'function_call', arguments: ARGUMENTS }]);
    sent = [];
    const messages = [
      { role: 'assistant', tool_calls: [toolCall] },
      { role: 'tool', tool_call_id: toolCall.id, content: 'ok' },
    ];
    await service.call('POST', '/chat/completions', { body: { ...body, messages } });
    expect(JSON.parse(sent[0] ?? '').messages[1].tool_calls[0].function.arguments).toBe(ARGUMENTS);
  });

  test('in output_json', async () => {
    answer = JSON.stringify({ choices: [{ message: { content: ARGUMENTS }, finish_reason: 'stop' }] });
    const draft = {
      template: 'Hi',
      model: 'openai-compatible/m',
      parameters: { response_format: { type: 'json_object' } },
    };
    const response = await fetch(`${service.origin}/v1/executions`, {
      method: 'POST',
      headers: { ...JSON_BODY, Authorization: `Bearer ${service.key}` },
      body: JSON.stringify({ draft }),
    });
    expect(await response.text()).toContain(`"output_json":${ARGUMENTS}`);
  });

  test('in a JSON response that comes as the input of a tool', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'v', schema: { type: 'object', properties: {} } } };
    const draft = {
      template: 'Hi',
      model: 'anthropic/claude-3-5-haiku-latest',
      parameters: { response_format: format },
    };
    answer = `{"content":[{"type":"tool_use","id":"a1","name":"json","input":${ARGUMENTS}}],"stop_reason":"tool_use"}`;
    const { body } = await service.call('POST', '/executions', { body: { draft } });
    expect(body).toMatchObject({ output: ARGUMENTS, tool_calls: [] });
  });

  test('and is compared by all of them', async () => {
    const score = async (output: string, expected: string) => {
      const evaluator = { type: 'json_match' };
      const { body } = await service.call('POST', '/evaluators/try', {
        body: { evaluators: [evaluator], output, expected },
      });
      return body.scores[0].score;
    };
    expect(await score(`{"id":${LONG}}`, `{"id":${LONG}}`)).toBe(1);
    expect(await score(`{"id":${LONG}}`, `{"id":${LONG.slice(0, -1)}1}`)).toBe(0);
  });
});
