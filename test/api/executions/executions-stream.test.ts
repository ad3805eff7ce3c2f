import http from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type EventReader, readEvents, type StreamRequest, textOf } from '../../support/event-stream.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { streamedCalls } from '../../support/streamed-calls.ts';
import { until } from '../../support/wait-for.ts';

const WEATHER = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };

let service: TestService;
let calls: ReturnType<typeof streamedCalls>;
beforeAll(async () => {
  // The test makes the calls.
  service = await startTestService({ QUOTA_STREAMS: '200', MAX_CONNECTIONS_PER_ADDRESS: '0' }, { workers: false });
  calls = streamedCalls(service);
  await service.call('POST', '/prompts', { body: { name: 'say', template: '{{ text }}', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());
afterEach(async () => {
  for (const reader of open.splice(0)) reader.close();
  await until('the end of all streams', async () => (await openStreams()) === 0);
});

/** By the metric. */
async function openStreams(): Promise<number | undefined> {
  const metric = await service.dependencies.registry.getSingleMetric('pms_streams_open')?.get();
  return metric?.values[0]?.value;
}

const BODY = { prompt_name: 'say', variables: { text: 'it' } };

async function queued(): Promise<string> {
  const { body } = await service.call('POST', '/executions', { body: BODY, headers: { Prefer: 'respond-async' } });
  return body.id;
}
const open: EventReader[] = [];
async function opened(reader: Promise<EventReader>): Promise<EventReader> {
  open.push(await reader);
  return reader;
}
const read = (id: string, headers: Record<string, string> = {}) =>
  opened(readEvents(service, `/executions/${id}/stream`, { headers }));
const readAfter = (id: string, lastEventId: string) => read(id, { 'Last-Event-ID': lastEventId });
const create = (request: StreamRequest = {}) =>
  opened(readEvents(service, '/executions', { method: 'POST', body: BODY, ...request }));
const brief = ({ events }: EventReader) =>
  events.map(({ id, event, data }) => [id, event, ...('delta' in data ? [data.delta] : [])]);
const record = async (id: string) => (await service.call('GET', `/executions/${id}`)).body;

describe('a stream', () => {
  test('begins with the execution, sends what the model says as it comes, and ends with the record', async () => {
    const reader = await create();
    await reader.has('execution.started');
    const id = reader.events[0]?.data.execution.id;
    const call = await calls.begin(id);
    await call.says('Hello ');
    await reader.has('output_text.delta');
    await call.says('Ada!');
    await reader.has('output_text.delta', 2);
    await call.asksFor(WEATHER);
    await reader.has('tool_call');
    await call.completes('Hello Ada!', [WEATHER]);
    expect(await reader.ended).toBe('ended');
    expect(reader.status).toBe(201);
    expect(brief(reader)).toEqual([
      ['1.1', 'execution.started'],
      ['1.2', 'output_text.delta', 'Hello '],
      ['1.3', 'output_text.delta', 'Ada!'],
      ['1.4', 'tool_call'],
      ['1.5', 'execution.completed'],
    ]);
    expect(reader.events[0]?.data.execution).toMatchObject({ id, status: 'queued', output: null });
    expect(reader.events[3]?.data).toEqual({ type: 'tool_call', sequence_number: 4, tool_call: WEATHER });
    expect(reader.events.at(-1)?.data).toEqual({
      type: 'execution.completed',
      sequence_number: 5,
      execution: await record(id),
    });
  });

  test('is sent as server-sent events, which proxies must not store or buffer', async () => {
    const id = await queued();
    const reader = await read(id);
    const call = await calls.begin(id);
    await call.says('One\nline');
    await call.completes('One\nline');
    await reader.ended;
    expect(reader.status).toBe(200);
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/./),
    });
    expect(reader.text()).toContain(
      'id: 1.2\nevent: output_text.delta\ndata: {"type":"output_text.delta","sequence_number":2,"delta":"One\\nline"}\n\n',
    );
  });

  test('sends a late reader everything said so far', async () => {
    const id = await queued();
    const call = await calls.begin(id);
    for (const word of ['a ', 'b ', 'c']) await call.says(word);
    const late = await read(id);
    await late.has('output_text.delta', 3);
    await call.completes('a b c');
    await late.ended;
    expect(textOf(late.events)).toBe('a b c');
  });

  test('of many rows is in order, however many', async () => {
    const id = await queued();
    const call = await calls.begin(id);
    const words = Array.from({ length: 180 }, (_, index) => `${index} `);
    for (const word of words) await call.says(word);
    await call.completes(words.join(''));
    const reader = await read(id);
    await reader.ended;
    expect(textOf(reader.events)).toBe(words.join(''));
    expect(reader.events.map(({ data }) => data.sequence_number)).toEqual(
      words.map((_, index) => index + 1).concat([181, 182]),
    );
  });

  test('of a failed or canceled execution ends with that', async () => {
    const [failed, canceled] = [await queued(), await queued()];
    const readers = [await read(failed), await read(canceled)];
    const call = await calls.begin(failed);
    await call.says('I beg');
    await calls.fail(failed);
    await service.call('POST', `/executions/${canceled}/cancel`);
    for (const reader of readers) expect(await reader.ended).toBe('ended');
    expect(readers.map(brief)).toEqual([
      [
        ['1.1', 'execution.started'],
        ['1.2', 'output_text.delta', 'I beg'],
        ['1.3', 'execution.failed'],
      ],
      [
        ['1.1', 'execution.started'],
        ['1.2', 'execution.canceled'],
      ],
    ]);
    for (const id of [failed, canceled]) {
      const again = await read(id);
      await again.ended;
      expect(again.events.at(-1)).toMatchObject({ data: { execution: await record(id) } });
    }
  });

  test('that was not requested before the call has the whole response at the end', async () => {
    const id = await queued();
    const call = await calls.begin(id);
    const reader = await read(id);
    await call.completes('All at once.', [WEATHER]);
    await reader.ended;
    expect(brief(reader)).toEqual([
      ['1.1', 'execution.started'],
      ['1.2', 'output_text.delta', 'All at once.'],
      ['1.3', 'tool_call'],
      ['1.4', 'execution.completed'],
    ]);
    // The next call of such an execution would have been streamed.
    const rows = await service.dependencies.db.system.query((db) =>
      db.selectFrom('executions').select('streamed').where('id', '=', id.replace('exec_', '')),
    );
    expect(rows).toEqual([{ streamed: true }]);
  });

  test('continues after its caller leaves', async () => {
    const reader = await create();
    await reader.has('execution.started');
    const id = reader.events[0]?.data.execution.id;
    reader.close();
    expect(await reader.ended).toBe('cut');
    const call = await calls.begin(id);
    await call.says('Nobody listens.');
    await call.completes('Nobody listens.');
    expect(await record(id)).toMatchObject({ status: 'completed', attempts: 1 });
  });
});

describe('a new call', () => {
  test('restarts the text', async () => {
    const reader = await create();
    await reader.has('execution.started');
    const id = reader.events[0]?.data.execution.id;
    const first = await calls.begin(id);
    await first.says('The worker that says this di');
    await reader.has('output_text.delta');
    const second = await calls.begin(id);
    await second.says('The next one ');
    await second.says('says this.');
    await second.completes('The next one says this.');
    await reader.ended;
    expect(brief(reader)).toEqual([
      ['1.1', 'execution.started'],
      ['1.2', 'output_text.delta', 'The worker that says this di'],
      ['2.1', 'execution.restarted'],
      ['2.2', 'output_text.delta', 'The next one '],
      ['2.3', 'output_text.delta', 'says this.'],
      ['2.4', 'execution.completed'],
    ]);
    const late = await read(id);
    await late.ended;
    expect(brief(late).map(([eventId]) => eventId)).toEqual(['2.1', '2.2', '2.3', '2.4']);
  });

  test('counts for nothing if the response of the previous call was stored', async () => {
    const reader = await create();
    await reader.has('execution.started');
    const id = reader.events[0]?.data.execution.id;
    const first = await calls.begin(id);
    await first.says('First.');
    const second = await calls.begin(id);
    await second.says('Second.');
    await reader.has('output_text.delta', 2);
    await first.completes('First.');
    await reader.ended;
    expect(textOf(reader.events)).toBe('First.');
    expect(reader.events.at(-1)).toMatchObject({
      event: 'execution.completed',
      data: { execution: { output: 'First.' } },
    });
  });
});

describe('Last-Event-ID', () => {
  async function halfway() {
    const id = await queued();
    const call = await calls.begin(id);
    for (const word of ['a ', 'b ', 'c ']) await call.says(word);
    return { id, call };
  }

  test('continues after it', async () => {
    const { id, call } = await halfway();
    const reader = await readAfter(id, '1.3');
    await reader.has('output_text.delta');
    await call.says('d');
    await call.completes('a b c d');
    await reader.ended;
    expect(brief(reader)).toEqual([
      ['1.4', 'output_text.delta', 'c '],
      ['1.5', 'output_text.delta', 'd'],
      ['1.6', 'execution.completed'],
    ]);
  });

  test('of the end repeats the end, with the same id', async () => {
    const { id, call } = await halfway();
    await call.completes('a b c ');
    for (const last of ['1.4', '1.5', '1.5']) {
      const reader = await readAfter(id, last);
      await reader.ended;
      expect(brief(reader)).toEqual([['1.5', 'execution.completed']]);
    }
  });

  test('of an ended call gives the next one from its start', async () => {
    const { id } = await halfway();
    const call = await calls.begin(id);
    await call.says('new');
    const reader = await readAfter(id, '1.4');
    await call.completes('new');
    await reader.ended;
    expect(brief(reader)).toEqual([
      ['2.1', 'execution.restarted'],
      ['2.2', 'output_text.delta', 'new'],
      ['2.3', 'execution.completed'],
    ]);
  });

  test('of a stream whose rows are gone gives the whole recorded response', async () => {
    const { id, call } = await halfway();
    await call.completes('a b c ');
    await calls.forget(id);
    for (const last of ['1.3', '1.5']) {
      const reader = await readAfter(id, last);
      await reader.ended;
      expect(brief(reader)).toEqual([
        ['1.1', 'execution.restarted'],
        ['1.2', 'output_text.delta', 'a b c '],
        ['1.3', 'execution.completed'],
      ]);
    }
    const fresh = await read(id);
    await fresh.ended;
    expect(brief(fresh).map(([, event]) => event)).toEqual([
      'execution.started',
      'output_text.delta',
      'execution.completed',
    ]);
  });

  test('continues without a gap if PostgreSQL lost what was read', async () => {
    const { id, call } = await halfway();
    const reader = await read(id);
    await reader.has('output_text.delta', 3);
    await calls.forget(id);
    await call.says('d ');
    await reader.has('output_text.delta', 4);
    const late = await read(id);
    await call.says('e');
    await reader.has('output_text.delta', 5);
    await call.completes('a b c d e');
    await Promise.all([reader.ended, late.ended]);
    expect([textOf(reader.events), textOf(late.events)]).toEqual(['a b c d e', 'a b c d e']);
  });

  test.each(['1', '1.', '.1', '1.0', '0.1', '-1.1', '1.1.1', '1.1x', 'a.b', '01.1', '1.1e3', '9'.repeat(400)])(
    'if invalid is refused: %j',
    async (lastEventId) => {
      const id = await queued();
      const answer = await service.call('GET', `/executions/${id}/stream`, {
        headers: { 'Last-Event-ID': lastEventId },
      });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
      expect(answer.body.error.message).toMatch(/Last-Event-ID is not an event id: send the id of the last event/);
    },
  );

  test('that is empty is ignored', async () => {
    const id = await queued();
    const reader = await readAfter(id, '');
    await reader.has('execution.started');
    expect(reader.status).toBe(200);
  });

  test('that this execution cannot have sent is refused', async () => {
    const { id, call } = await halfway();
    const refused = async (lastEventId: string) => {
      const answer = await service.call('GET', `/executions/${id}/stream`, {
        headers: { 'Last-Event-ID': lastEventId },
      });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
      expect(answer.body.error.message).toMatch(/Last-Event-ID is not an event of this execution/);
    };
    await refused('2.1');
    await refused('1.5');
    await call.completes('a b c ');
    await refused('1.6');
    const untouched = await queued();
    const answer = await service.call('GET', `/executions/${untouched}/stream`, {
      headers: { 'Last-Event-ID': '1.7' },
    });
    expect(answer.status).toBe(400);
  });
});

describe('a request', () => {
  test('a bad one gets JSON, even if a stream was requested', async () => {
    const bad = await create({ body: { prompt_name: 'say', variables: {} } });
    await bad.ended;
    expect([bad.status, bad.headers.get('Content-Type')]).toEqual([400, 'application/json; charset=utf-8']);
  });

  test.each([
    ['text/event-stream', 'text/event-stream'],
    ['text/event-stream;q=0.5, application/json;q=0.1', 'text/event-stream'],
    ['application/json, text/event-stream;q=0.9', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html', 'application/json'],
  ])('Accept: %s gives %s', async (accept, type) => {
    const reader = await create({ headers: { Accept: accept, Prefer: 'respond-async' } });
    expect([reader.status, reader.headers.get('Content-Type')]).toEqual([201, `${type}; charset=utf-8`]);
    reader.close();
  });
});

describe('an Idempotency-Key', () => {
  test('gives the second request the stream of the same execution, from its start', async () => {
    const headers = { 'Idempotency-Key': 'stream-once' };
    const first = await create({ headers });
    await first.has('execution.started');
    const id = first.events[0]?.data.execution.id;
    const call = await calls.begin(id);
    await call.says('Once.');
    const second = await create({ headers });
    await call.completes('Once.');
    await Promise.all([first.ended, second.ended]);
    const third = await create({ headers });
    await third.ended;
    for (const reader of [first, second, third]) {
      expect(reader.events[0]?.data.execution.id).toBe(id);
      expect(textOf(reader.events)).toBe('Once.');
    }
    expect([first, second, third].map((reader) => reader.headers.get('Idempotent-Replayed'))).toEqual([
      null,
      'true',
      'true',
    ]);
    const plain = await service.call('POST', '/executions', { body: BODY, headers });
    expect(plain.body).toEqual(await record(id));
    const again = await create({ headers });
    await again.ended;
    expect(textOf(again.events)).toBe('Once.');
  });
});

describe('many readers', () => {
  test('200 of one stream get all of it', async () => {
    const id = await queued();
    const readers = await Promise.all(Array.from({ length: 200 }, () => read(id)));
    const call = await calls.begin(id);
    for (const word of ['two ', 'hundred ', 'readers']) await call.says(word);
    await call.completes('two hundred readers');
    await Promise.all(readers.map((reader) => reader.ended));
    const texts = new Set(readers.map(({ events }) => textOf(events)));
    expect([...texts]).toEqual(['two hundred readers']);
    expect(new Set(readers.map((reader) => JSON.stringify(brief(reader)))).size).toBe(1);
  });

  test('beyond the workspace limit are refused, until some are closed', async () => {
    const id = await queued();
    const readers = await Promise.all(Array.from({ length: 200 }, () => read(id)));
    expect(new Set(readers.map(({ status }) => status))).toEqual(new Set([200]));
    const answer = await service.call('GET', `/executions/${id}/stream`);
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'quota_exceeded' } } });
    expect(answer.body.error.message).toMatch(/at most 200 streams open.*QUOTA_STREAMS/);
    const refused = await create();
    await refused.ended;
    expect(refused.status).toBe(429);
    for (const reader of readers.slice(0, 100)) reader.close();
    await until('room', async () => {
      const next = await read(id);
      next.close();
      return next.status === 200;
    });
    await service.call('POST', `/executions/${id}/cancel`);
    await Promise.all(readers.slice(100).map((reader) => reader.ended));
    expect(readers.at(-1)?.events.at(-1)?.event).toBe('execution.canceled');
  });

  test('a reader that never reads delays no other, and uses only a little memory', async () => {
    const id = await queued();
    const reader = await read(id);
    const idle = http.get(`${service.origin}/v1/executions/${id}/stream`, {
      headers: { Authorization: `Bearer ${service.key}` },
    });
    idle.on('error', () => {});
    const response = await new Promise<http.IncomingMessage>((resolve) => idle.once('response', resolve));
    response.pause();
    const call = await calls.begin(id);
    const text = 'x'.repeat(4 * 1024 * 1024);
    await call.says(text);
    await call.completes(text);
    await reader.ended;
    expect(textOf(reader.events)).toBe(text);
    idle.destroy();
  });
});
