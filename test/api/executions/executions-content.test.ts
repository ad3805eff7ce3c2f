import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', {
    body: { name: 'echo', template: 'Say {{ text }}.', model: 'sandbox/echo', parameters: { temperature: 0.5 } },
  });
});
afterAll(() => service?.stop());

const run = (body: object, headers: Record<string, string> = {}) =>
  service.call('POST', '/executions', { body, headers });
const detailsOf = ({ body }: { body: { error: { details?: { path: string }[] } } }) =>
  body.error.details?.map(({ path }) => path);
const eventsOf = async (id: string) => {
  const { query } = service.dependencies.db.system;
  const rows = await query<{ type: string }>({ text: `select type from events where data->>'execution_id' = $1` }, [
    id,
  ]);
  return rows.map(({ type }) => type);
};

const TOOL = { name: 'look_up', input_schema: { type: 'object' } };
const MESSAGES = [
  { role: 'system', content: 'You are {{ role }}.' },
  { placeholder: 'history', required: false },
  { role: 'user', content: [{ type: 'text', text: 'What is {{ what }}?' }] },
];

describe('messages', () => {
  test('are recorded as they were sent, with the tools', async () => {
    const { status, body } = await run({
      draft: { messages: MESSAGES, tools: [TOOL], tool_choice: 'auto', model: 'sandbox/echo' },
      variables: {
        role: '{{ what }}',
        what: 'this',
        history: [
          { role: 'user', content: 'Hi {{ role }}' },
          { role: 'assistant', content: 'Hello.' },
        ],
      },
    });
    expect([status, body.error]).toEqual([201, null]);
    expect(body).toMatchObject({
      status: 'completed',
      input: [
        { role: 'system', content: 'You are {{ what }}.' },
        { role: 'user', content: 'Hi {{ role }}' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: [{ type: 'text', text: 'What is this?' }] },
      ],
      output: 'What is this?',
      output_json: null,
      tools: [TOOL],
      tool_choice: 'auto',
      tool_calls: [],
      includes: [],
    });
    expect((await service.call('GET', `/executions/${body.id}`)).body).toEqual(body);
  });

  test('of the request are appended to the prompt, and are never expanded', async () => {
    const { body } = await run({
      prompt_name: 'echo',
      variables: { text: 'hi' },
      messages: [
        { role: 'assistant', content: 'hi' },
        { role: 'user', content: 'And {{ text }}?' },
      ],
    });
    expect(body).toMatchObject({
      prompt_version: 1,
      input: [
        { role: 'user', content: 'Say hi.' },
        { role: 'assistant', content: 'hi' },
        { role: 'user', content: 'And {{ text }}?' },
      ],
      output: 'And {{ text }}?',
    });
  });

  test('that no provider accepts are refused by position', async () => {
    const result = { role: 'tool', content: [{ type: 'tool_result', id: 'call_1', name: 'look_up', output: 1 }] };
    const refused = await run({ prompt_name: 'echo', variables: { text: 'hi' }, messages: [result] });
    expect([refused.status, detailsOf(refused)]).toEqual([400, ['messages.0']]);
    const history = [{ role: 'user', content: 'Hi' }, result];
    const inHistory = await run({
      draft: { messages: MESSAGES, model: 'sandbox/echo' },
      variables: { role: 'x', what: 'y', history },
    });
    expect([inHistory.status, detailsOf(inHistory)]).toEqual([400, ['variables.history.1']]);
  });

  test('can hold files of some MiB, which never pass through Temporal', async () => {
    const data = Buffer.alloc(1.5 * 1024 * 1024, 7).toString('base64');
    const content = [
      { type: 'file', media_type: 'image/png', data },
      { type: 'text', text: 'What is it?' },
    ];
    const { status, body } = await run({
      prompt_name: 'echo',
      variables: { text: 'hi' },
      messages: [{ role: 'user', content }],
    });
    expect([status, body.status]).toEqual([201, 'completed']);
    expect(body.input[1].content).toEqual(content);
    const { historySize } = await service.dependencies.client.workflow.getHandle(body.workflow_id).describe();
    expect(historySize).toBeLessThan(10_000);
  });

  test('in a body of more than 4 MiB are refused', async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(4 * 1024 * 1024) }];
    const { status, body } = await run({ draft: { messages, model: 'sandbox/echo' } });
    expect([status, body.error.code]).toEqual([400, 'payload_too_large']);
  });

  test.each(['{}', '[]', '1', '""'])('in a body of very many %s are refused', async (value) => {
    const raw = (count: number) => `{"prompt_name":"none","variables":{"x":[${Array(count).fill(value).join()}]}}`;
    const headers = { 'Content-Type': 'application/json' };
    const { status, body } = await service.call('POST', '/executions', { raw: raw(100_000), headers });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toContain('at most 100000');
    // The object, the name of the prompt, the variables and the list are values, too.
    expect((await service.call('POST', '/executions', { raw: raw(100_000 - 4), headers })).status).toBe(404);
  });
});

describe('a JSON answer', () => {
  test('is also parsed, if a JSON format was requested', async () => {
    const draft = { template: 'hi', model: 'sandbox/json' };
    const asked = await run({ draft, parameters: { response_format: { type: 'json_object' } } });
    expect(asked.body).toMatchObject({ output: '{"echo":"hi"}', output_json: { echo: 'hi' } });
    expect((await run({ draft })).body).toMatchObject({ output: '{"echo":"hi"}', output_json: null });
  });

  test('that is invalid or nested without end is only text', async () => {
    const parameters = { response_format: { type: 'json_object' } };
    for (const template of ['no JSON', '['.repeat(100_000) + ']'.repeat(100_000)]) {
      const { body } = await run({ draft: { template, model: 'sandbox/echo' }, parameters });
      expect(body).toMatchObject({ status: 'completed', output: template, output_json: null });
    }
  });
});

describe('a draft', () => {
  test('is run without a prompt, and sends no webhook events', async () => {
    const { status, body } = await run({
      draft: { template: 'Hi {{ name }}', model: 'sandbox/echo' },
      variables: { name: 'Ada' },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ prompt_name: null, prompt_version: null, output: 'Hi Ada', status: 'completed' });
    const failed = await run({ draft: { template: 'Hi', model: 'sandbox/fail' } });
    expect(failed.body).toMatchObject({ prompt_name: null, status: 'failed' });
    expect([...(await eventsOf(body.id)), ...(await eventsOf(failed.body.id))]).toEqual([]);
    const stored = await run({ prompt_name: 'echo', variables: { text: 'x' } });
    expect(await eventsOf(stored.body.id)).toEqual(['execution.completed']);
  });

  test('of a prompt equals its version after a PUT, and stores nothing', async () => {
    const { body } = await run({
      prompt_name: 'echo',
      draft: { template: 'Shout {{ text }}!' },
      variables: { text: 'hi' },
    });
    expect(body).toMatchObject({
      prompt_name: 'echo',
      prompt_version: null,
      input: 'Shout hi!',
      model: 'sandbox/echo',
      parameters: { temperature: 0.5 },
    });
    const other = await run({
      prompt_name: 'echo',
      draft: {
        messages: [{ role: 'user', content: 'Whisper {{ text }}' }],
        model: 'sandbox/json',
        parameters: { seed: 1 },
      },
      variables: { text: 'hi' },
      parameters: { top_p: 0.9 },
    });
    expect(other.body).toMatchObject({
      input: [{ role: 'user', content: 'Whisper hi' }],
      model: 'sandbox/json',
      parameters: { seed: 1, top_p: 0.9 },
    });
    expect((await service.call('GET', '/prompts/echo')).body).toMatchObject({
      version: 1,
      template: 'Say {{ text }}.',
    });
  });

  test('is described to operators without the name of a prompt', async () => {
    const summaryOf = async (workflowId: string) => {
      const handle = service.dependencies.client.workflow.getHandle(workflowId);
      return (await handle.describe()).staticSummary();
    };
    const alone = await run({ draft: { template: 'Hi', model: 'sandbox/echo' } });
    expect(await summaryOf(alone.body.workflow_id)).toBe('a draft on sandbox/echo');
    const ofPrompt = await run({ prompt_name: 'echo', draft: { template: 'Hi' } });
    expect(await summaryOf(ofPrompt.body.workflow_id)).toBe('a draft of echo on sandbox/echo');
  });

  test('counts in usage, without a prompt if it has none', async () => {
    const since = new Date().toISOString();
    await run({ draft: { template: 'x', model: 'sandbox/slow-1' } });
    await run({ prompt_name: 'echo', draft: { template: 'x', model: 'sandbox/slow-1' } });
    const { body } = await service.call('GET', `/usage?since=${since}&model=sandbox/slow-1&group_by=prompt`);
    expect(body.data).toMatchObject([
      { prompt_name: 'echo', executions: 1 },
      { prompt_name: null, executions: 1 },
    ]);
    const listed = await service.call('GET', `/executions?model=sandbox/slow-1&since=${since}`);
    expect(listed.body.data.map((each: { prompt_name: string | null }) => each.prompt_name)).toEqual(['echo', null]);
  });

  test('becomes an example of a dataset like any execution', async () => {
    const { body } = await run({
      draft: { template: '{{ name }}', model: 'sandbox/slow-2' },
      variables: { name: 'Ada' },
    });
    const made = await service.call('POST', '/datasets/drafts/from-executions', { body: { execution_ids: [body.id] } });
    expect(made).toMatchObject({ status: 201, body: { examples_total: 1 } });
    const examples = await service.call('GET', '/datasets/drafts/examples');
    expect(examples.body.data[0]).toMatchObject({ variables: { name: 'Ada' }, metadata: { prompt_name: null } });
  });

  test.each([
    ['neither a prompt nor a draft', { variables: {} }, 'prompt_name'],
    ['no model', { draft: { template: 'x' } }, 'draft.model'],
    ['an unknown model', { draft: { template: 'x', model: 'nobody/model' } }, 'draft.model'],
    [
      'an unknown fallback',
      { draft: { template: 'x', model: 'sandbox/echo', fallback_models: ['nobody/x'] } },
      'draft.fallback_models.0',
    ],
    ['no text', { draft: { model: 'sandbox/echo' } }, 'draft.template'],
    [
      'a template and messages',
      { draft: { template: 'x', messages: MESSAGES, model: 'sandbox/echo' } },
      'draft.messages',
    ],
    ['a version without a prompt', { version: 1, draft: { template: 'x', model: 'sandbox/echo' } }, 'version'],
    ['an unknown field', { draft: { template: 'x', modle: 'y' } }, 'draft.modle'],
    [
      'a tool with an invalid schema',
      { draft: { template: 'x', model: 'sandbox/echo', tools: [{ name: 'f', input_schema: { type: 'objekt' } }] } },
      'draft.tools.0.input_schema',
    ],
    ['an unknown include', { draft: { template: '{{> nobody }}', model: 'sandbox/echo' } }, 'draft.template'],
  ])('with %s is refused', async (_, body, path) => {
    const refused = await run(body);
    expect([refused.status, detailsOf(refused)]).toEqual([400, [path]]);
  });
});

describe('includes', () => {
  test('are recorded with their versions', async () => {
    await service.call('POST', '/prompts', {
      body: { name: 'preamble', template: 'Be {{ how }}.', model: 'sandbox/echo' },
    });
    const { body } = await run({
      draft: { template: '{{> preamble }} Greet {{> preamble@1 }}', model: 'sandbox/echo' },
      variables: { how: 'kind' },
    });
    expect(body).toMatchObject({
      input: 'Be kind. Greet Be kind.',
      includes: [{ name: 'preamble', version: 1 }],
    });
  });
});
