import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' });
  await create('echo', { template: '{{ text }}' });
});
afterAll(() => service?.stop());

const create = (name: string, more: object = {}) =>
  service.call('POST', '/prompts', { body: { name, template: 'Say {{ name }}.', model: 'sandbox/echo', ...more } });
const run = (body: object, prefer?: string) =>
  service.call('POST', '/executions', { body, headers: prefer === undefined ? {} : { Prefer: prefer } });
const read = (id: string) => service.call('GET', `/executions/${id}`);
const cancel = (id: string) => service.call('POST', `/executions/${id}/cancel`);

/** The execution once it has one of these states. */
async function reach(id: string, ...states: string[]) {
  for (;;) {
    const { body } = await read(id);
    if (states.includes(body.status)) return body;
  }
}

describe('a run', () => {
  test('records its tokens, cost and latency', async () => {
    await create('greetings/hello', { template: 'Say hello to {{ name }}.' });
    const done = await run({
      prompt_name: 'greetings/hello',
      variables: { name: 'Ada' },
      metadata: { customer: 'acme' },
    });
    expect(done.status).toBe(201);
    expect(done.body).toMatchObject({
      status: 'completed',
      prompt_name: 'greetings/hello',
      prompt_version: 1,
      model: 'sandbox/echo',
      provider: 'sandbox',
      variables: { name: 'Ada' },
      input: 'Say hello to Ada.',
      output: 'Say hello to Ada.',
      finish_reason: 'stop',
      cost: { amount: '0', currency: 'USD', pricing: { source: 'sandbox' } },
      attempts: 1,
      error: null,
      metadata: { customer: 'acme' },
    });
    expect(done.body.workflow_id).toBe(`execute-prompt/${done.body.id}`);
    expect(done.body.tokens.total).toBe(done.body.tokens.input + done.body.tokens.output);
    expect(done.body.latency.total_ms).toBeGreaterThanOrEqual(done.body.latency.model_ms);
    expect((await read(done.body.id)).body).toEqual(done.body);
  });

  test.each([
    ['a text', 'a {{ text }} \\{{ text }} $& $1', 'a {{ text }} \\{{ text }} $& $1'],
    ['a number', 1.5, '1.5'],
    ['zero', 0, '0'],
    ['a boolean', false, 'false'],
    ['an empty text', '', ''],
    ['an object', { a: [1, { b: null }] }, '{"a":[1,{"b":null}]}'],
    ['an array', [1, 'x', null], '[1,"x",null]'],
  ])('fills in %s', async (_, text, input) => {
    const { body } = await run({ prompt_name: 'echo', variables: { text, extra: null } }, 'wait=0');
    expect(body).toMatchObject({ input, variables: { text, extra: null } });
  });

  test('names every missing or null variable, and ignores extra ones', async () => {
    await create('needy', { template: '{{ a }}{{ constructor }}{{ c }}{{ a }}' });
    const { status, body } = await run({ prompt_name: 'needy', variables: { c: null, d: 1 } });
    expect(status).toBe(400);
    expect(body.error.code).toBe('invalid_request');
    expect(body.error.details).toEqual([
      { path: 'variables.a', message: expect.stringContaining('missing') },
      { path: 'variables.constructor', message: expect.stringContaining('missing') },
      { path: 'variables.c', message: expect.stringContaining('null') },
    ]);
    const filled = await run({ prompt_name: 'needy', variables: { a: 1, constructor: 'f', c: 3 } }, 'wait=0');
    expect(filled.body.input).toBe('1f31');
    expect((await run({ prompt_name: 'needy' })).body.error.details).toHaveLength(3);
  });

  test('refuses values that would make the prompt grow without limit', async () => {
    await create('bomb', { template: '{{ a }}'.repeat(30_000) });
    const { status, body } = await run({ prompt_name: 'bomb', variables: { a: 'x'.repeat(900_000) } });
    expect([status, body.error.details[0].path]).toEqual([400, 'variables']);
  });

  test('lays its parameters over those of the prompt', async () => {
    await create('tuned', {
      parameters: { temperature: 0.1, top_p: 0.9, provider_options: { openai: { store: false } } },
    });
    const { body } = await run(
      { prompt_name: 'tuned', variables: { name: 'x' }, parameters: { temperature: 1, seed: 3 } },
      'wait=0',
    );
    expect(body.parameters).toEqual({
      temperature: 1,
      top_p: 0.9,
      seed: 3,
      provider_options: { openai: { store: false } },
    });
  });

  test('uses the latest version, a version or a label, but not both', async () => {
    await create('chosen', { template: 'one' });
    await create('chosen', { template: 'two' });
    await service.call('PUT', '/prompts/chosen/labels/live', { body: { version: 1 } });
    const inputOf = async (more: object) => (await run({ prompt_name: 'chosen', ...more }, 'wait=0')).body.input;
    expect(await inputOf({})).toBe('two');
    expect(await inputOf({ version: 1 })).toBe('one');
    expect(await inputOf({ label: 'live' })).toBe('one');
    expect(await inputOf({ label: 'latest' })).toBe('two');
    expect((await run({ prompt_name: 'chosen', version: 1, label: 'live' })).body.error.details).toMatchObject([
      { path: 'label' },
    ]);
    expect((await run({ prompt_name: 'chosen', version: 3 })).status).toBe(404);
    expect((await run({ prompt_name: 'chosen', label: 'none' })).status).toBe(404);
    expect((await run({ prompt_name: 'nobody' })).body.error).toMatchObject({ code: 'not_found' });
  });

  test('of an archived prompt is refused', async () => {
    await create('gone', { template: 'x' });
    await service.call('DELETE', '/prompts/gone');
    expect(await run({ prompt_name: 'gone' })).toMatchObject({
      status: 400,
      body: { error: { code: 'prompt_archived' } },
    });
  });

  test.each([
    ['openai/gpt-4o-mini', 'OPENAI_API_KEY'],
    ['gpt-4o-mini', 'OPENAI_API_KEY'],
    ['claude-sonnet-4-5', 'ANTHROPIC_API_KEY'],
    ['google/gemini-2.5-flash', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['no-such-model', 'no provider is known'],
    ['nobody/model', 'no provider is known'],
    ['sandbox/nothing', 'there is no sandbox/nothing'],
  ])('on %s is refused, saying why: %s', async (model, reason) => {
    const { status, body } = await run({ prompt_name: 'echo', variables: { text: 'x' }, model });
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'invalid_request', 'model']);
    expect(body.error.message).toContain(reason);
  });

  test.each([
    ['sandbox/fail-400', 'model_invalid_request'],
    ['sandbox/fail-401', 'model_authentication'],
    ['sandbox/fail-403', 'model_authentication'],
    ['sandbox/fail-404', 'model_not_found'],
    ['sandbox/fail', 'model_unavailable'],
  ])('that %s refuses for good fails with %s, and the answer is 201', async (model, code) => {
    const { status, body } = await run({ prompt_name: 'echo', variables: { text: 'x' }, model });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'failed', output: null, error: { code, message: expect.any(String) } });
    expect(body.finished_at).not.toBeNull();
  });

  test('with the longest names starts', async () => {
    const name = 'n'.repeat(200);
    await create(name, { template: 'x' });
    const { status, body } = await run({ prompt_name: name, model: `openai-compatible/${'m'.repeat(182)}` }, 'wait=0');
    expect([status, body.error]).toEqual([201, null]);
    expect((await cancel(body.id)).status).toBe(200);
  });
});

describe('waiting', () => {
  test('respond-async does not wait; the run continues', async () => {
    const { status, body } = await run(
      { prompt_name: 'echo', variables: { text: 'x' }, model: 'sandbox/slow-300' },
      'respond-async',
    );
    expect(status).toBe(201);
    expect(['queued', 'running']).toContain(body.status);
    expect((await reach(body.id, 'completed')).output).toBe('x');
  });

  test('lasts as long as requested, and returns the state at that time', async () => {
    const started = performance.now();
    const { status, body } = await run(
      { prompt_name: 'echo', variables: { text: 'x' }, model: 'sandbox/stall' },
      'handling=lenient, wait=1',
    );
    expect(performance.now() - started).toBeGreaterThan(950);
    expect(status).toBe(201);
    expect(['queued', 'running']).toContain(body.status);
    expect((await cancel(body.id)).body.status).toBe('canceled');
  });

  test('waits for a slow model by default', async () => {
    const { body } = await run({ prompt_name: 'echo', variables: { text: 'x' }, model: 'sandbox/slow-500' });
    expect(body).toMatchObject({ status: 'completed', output: 'x' });
    expect(body.latency.model_ms).toBeGreaterThanOrEqual(490);
  });

  test.each(['wait=301', 'wait=-1', 'wait=x', 'wait', 'wait=1.5', 'wait='])('Prefer: %s is 400', async (prefer) => {
    expect((await run({ prompt_name: 'echo', variables: { text: 'x' } }, prefer)).status).toBe(400);
  });
});

describe('canceling', () => {
  test('a run that waits for its model ends at once, and an ended one cannot be canceled', async () => {
    const { body } = await run(
      { prompt_name: 'echo', variables: { text: 'x' }, model: 'sandbox/stall' },
      'respond-async',
    );
    await reach(body.id, 'running');
    const canceled = await cancel(body.id);
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled', output: null, error: null } });
    expect(await cancel(body.id)).toMatchObject({ status: 400, body: { error: { code: 'invalid_state' } } });
    expect((await read(body.id)).body.status).toBe('canceled');
    const done = await run({ prompt_name: 'echo', variables: { text: 'x' } });
    expect((await cancel(done.body.id)).body.error.code).toBe('invalid_state');
  });

  test('wakes those waiting for the run', async () => {
    const waiting = run({ prompt_name: 'echo', variables: { text: 'wake' }, model: 'sandbox/stall' }, 'wait=60');
    let found: { id: string } | undefined;
    while (found === undefined) {
      const { body } = await service.call('GET', '/executions?status=running');
      found = body.data.find(({ input }: { input: string }) => input === 'wake');
    }
    await cancel(found.id);
    expect((await waiting).body).toMatchObject({ id: found.id, status: 'canceled' });
  });

  test.each(['exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', 'exec_x', 'x', 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11'])(
    'an unknown execution %s is 404',
    async (id) => {
      expect((await cancel(id)).body.error.code).toBe('not_found');
      expect((await read(id)).body.error.code).toBe('not_found');
    },
  );
});

describe('the list and the usage', () => {
  let since = '';
  let until = '';
  beforeAll(async () => {
    await create('sum/a', { template: 'twelve chars' });
    await create('sum/b', { template: 'sixteen chars !!' });
    since = (await run({ prompt_name: 'sum/a', metadata: { n: '0' } })).body.created_at;
    await run({ prompt_name: 'sum/a', metadata: { n: '1' } });
    await run({ prompt_name: 'sum/b', metadata: { n: '2' } });
    await run({ prompt_name: 'sum/b', model: 'sandbox/json', metadata: { n: '3' } });
    until = (await run({ prompt_name: 'sum/b', model: 'sandbox/fail', metadata: { n: '4' } })).body.created_at;
  });
  const listed = async (query: string) => {
    const { body } = await service.call('GET', `/executions?${query}`);
    return body.data.map(({ metadata }: { metadata: { n: string } }) => metadata.n);
  };

  test('filters by prompt, status, model and time, newest first', async () => {
    expect(await listed('prompt_name=sum/a')).toEqual(['1', '0']);
    expect(await listed('prompt_name=sum/b')).toEqual(['4', '3', '2']);
    expect(await listed('prompt_name=sum/b&status=failed')).toEqual(['4']);
    expect(await listed('prompt_name=sum/b&model=sandbox/json')).toEqual(['3']);
    expect(await listed(`since=${since}&until=${until}`)).toEqual(['3', '2', '1', '0']);
    expect(await listed(`since=${since}&until=${since}`)).toEqual([]);
    expect(await listed('prompt_name=sum/none')).toEqual([]);
  });

  test('shows page after page while runs are added', async () => {
    const first = await service.call('GET', '/executions?prompt_name=sum/b&limit=2');
    await run({ prompt_name: 'sum/b', metadata: { n: '5' } });
    const second = await service.call('GET', `/executions?prompt_name=sum/b&limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ data: [{ metadata: { n: '2' } }], next_cursor: null });
  });

  test('sums by prompt, model and day', async () => {
    const usage = async (more: string) =>
      (await service.call('GET', `/usage?since=${since}&until=${until}&${more}`)).body.data;
    const tokens = (input: number, output: number) => ({
      input,
      output,
      cached_input: 0,
      reasoning: 0,
      total: input + output,
    });
    const cost = { amount: '0', currency: 'USD' };
    const sums = (responses: number) => ({
      failed: 0,
      unpriced: 0,
      cost,
      latency: { mean_ms: expect.any(Number), responses },
    });
    expect(await usage('group_by=prompt')).toEqual([
      { prompt_name: 'sum/a', executions: 2, completed: 2, tokens: tokens(6, 6), ...sums(2) },
      { prompt_name: 'sum/b', executions: 2, completed: 2, tokens: tokens(8, 11), ...sums(2) },
    ]);
    expect(await usage('group_by=model,prompt')).toMatchObject([
      { model: 'sandbox/echo', prompt_name: 'sum/a', executions: 2 },
      { model: 'sandbox/echo', prompt_name: 'sum/b', executions: 1 },
      { model: 'sandbox/json', prompt_name: 'sum/b', executions: 1 },
    ]);
    expect(await usage('group_by=')).toEqual([{ executions: 4, completed: 4, tokens: tokens(14, 17), ...sums(4) }]);
    expect(await usage('group_by=day&model=sandbox/json')).toMatchObject([{ day: since.slice(0, 10), executions: 1 }]);
    expect(await usage('group_by=prompt&prompt_name=sum/none')).toEqual([]);
    const all = await service.call('GET', '/usage?prompt_name=sum/b&group_by=prompt');
    expect(all.body.data).toMatchObject([{ failed: 1, unpriced: 0 }]);
    // That long ago, in whole hours.
    const hourMs = 60 * 60 * 1000;
    const thirtyDaysAgo = Date.parse(all.body.until) - 30 * 24 * hourMs;
    expect(Date.parse(all.body.since)).toBe(Math.floor(thirtyDaysAgo / hourMs) * hourMs);
  });

  test('has no cost, rather than 0, if no answer has a known price', async () => {
    await create('unpriced', { template: 'x' });
    const { body } = await run({ prompt_name: 'unpriced' });
    await service.dependencies.db.system.query({
      text: `update executions set cost_amount = null, pricing = null where prompt_name = 'unpriced'`,
    });
    expect((await read(body.id)).body.cost).toEqual({ amount: null, currency: 'USD', pricing: null });
    const usage = await service.call('GET', '/usage?prompt_name=unpriced&group_by=');
    expect(usage.body.data).toMatchObject([{ executions: 1, unpriced: 1, cost: { amount: null } }]);
  });

  test.each([
    'group_by=year',
    'since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
    'since=yesterday',
    'until=0000-01-01T00:00:00Z',
  ])('usage with %s is 400', async (query) => {
    expect((await service.call('GET', `/usage?${query}`)).status).toBe(400);
  });
});

describe('provider options with uncounted costs', () => {
  const costly = { provider_options: { openai: { n: 5 } } };
  const refusal = {
    status: 400,
    body: { error: { code: 'invalid_request', details: [{ path: 'parameters.provider_options.openai.n' }] } },
  };

  test('are refused by name when a prompt is made, changed or run', async () => {
    const prompt = { name: 'costly', template: 'Hi', model: 'sandbox/echo' };
    expect(await service.call('POST', '/prompts', { body: { ...prompt, parameters: costly } })).toMatchObject(refusal);
    expect((await service.call('POST', '/prompts', { body: prompt })).status).toBe(201);
    expect(await service.call('PUT', '/prompts/costly', { body: { parameters: costly } })).toMatchObject(refusal);
    const run = { prompt_name: 'costly' };
    expect(await service.call('POST', '/executions', { body: { ...run, parameters: costly } })).toMatchObject(refusal);
    // As a prompt may have been stored by earlier versions.
    await service.dependencies.db.system.query(
      {
        text: `update prompt_versions set parameters = $1 where prompt_id in (select id from prompts where name = 'costly')`,
      },
      [costly],
    );
    expect(await service.call('POST', '/executions', { body: run })).toMatchObject(refusal);
  });
});
