import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NotFoundError, Pms, type StreamEvent } from '../../clients/typescript/src/index.ts';
import { proxyTo, type TcpProxy } from '../support/proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/wait-for.ts';
import { startWordModel, type WordModel } from '../support/word-model.ts';

let model: WordModel;
let service: TestService;
let proxy: TcpProxy;
let pms: Pms;
beforeAll(async () => {
  model = await startWordModel();
  service = await startTestService({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: model.baseUrl });
  const through = await proxyTo(service.origin);
  proxy = through.proxy;
  pms = new Pms({ baseUrl: through.url, apiKey: service.key });
  await pms.call('createPrompt', { body: { name: 'say', template: '{{ text }}', model: 'openai/gpt-4o-mini' } });
});
afterAll(async () => {
  await proxy?.close();
  await service?.stop();
  await model?.close();
});

/** The state of a caller that follows the events. */
class Reading {
  readonly types: string[] = [];
  text = '';
  readonly ended: Promise<void>;

  constructor(events: AsyncIterable<StreamEvent>) {
    this.ended = (async () => {
      for await (const event of events) {
        this.types.push(event.type);
        if (event.type === 'execution.restarted') this.text = '';
        if (event.type === 'output_text.delta') this.text += event.delta;
      }
    })();
  }
}

const body = { prompt_name: 'say', variables: { text: 'it' } };

test('a stream cut five times continues where it was, without repeats', async () => {
  const calls = model.calls.length;
  const reading = new Reading(pms.stream(body));
  const call = await until('the call', async () => model.calls[calls]);
  let said = '';
  for (const word of ['one ', 'two ', 'three ', 'four ', 'five ']) {
    call.say(word);
    said += word;
    await until(said, async () => reading.text === said);
    proxy.cut();
    proxy.restore();
  }
  call.say('end');
  call.finish();
  await reading.ended;
  expect(reading.text).toBe('one two three four five end');
  expect(reading.types.at(0)).toBe('execution.started');
  expect(reading.types.filter((type) => type === 'execution.started')).toHaveLength(1);
  expect(reading.types.at(-1)).toBe('execution.completed');
  expect(model.calls).toHaveLength(calls + 1);
});

test('a request whose answer is lost is repeated, and the prompt runs once', async () => {
  const calls = model.calls.length;
  const lost = proxy.loseAnswer('POST /v1/executions', 'HTTP/1.1 201');
  const reading = new Reading(pms.stream(body));
  await lost;
  const call = await until('the call', async () => model.calls[calls]);
  call.say('once');
  call.finish();
  await reading.ended;
  expect(reading.text).toBe('once');
  expect(model.calls).toHaveLength(calls + 1);
});

test('the stream of an ended execution gives all of it', async () => {
  const { body: list } = await service.call('GET', '/executions?limit=1');
  const reading = new Reading(pms.streamOf(list.data[0].id));
  await reading.ended;
  expect([reading.text, reading.types.at(-1)]).toEqual([list.data[0].output, 'execution.completed']);
});

test('a refusal is an error, and is not retried', async () => {
  await expect(new Reading(pms.stream({ prompt_name: 'none' })).ended).rejects.toThrow(NotFoundError);
  const execution = 'exec_01a1fcb5-47d9-751c-a117-fc69fab1331f';
  await expect(new Reading(pms.streamOf(execution)).ended).rejects.toThrow(NotFoundError);
});

test('a lasting outage is an error', async () => {
  const calls = model.calls.length;
  const reading = new Reading(pms.stream(body, { maxReconnects: 1 }));
  const call = await until('the call', async () => model.calls[calls]);
  call.say('one');
  await until('one', async () => reading.text === 'one');
  proxy.cut();
  await expect(reading.ended).rejects.toMatchObject({ code: 'connection_failed' });
  proxy.restore();
  call.finish();
});

test('leaving the loop ends the connection, not the run', async () => {
  const calls = model.calls.length;
  let id = '';
  for await (const event of pms.stream(body)) {
    if (event.type === 'execution.started') id = event.execution.id;
    break;
  }
  const call = await until('the call', async () => model.calls[calls]);
  call.say('done');
  call.finish();
  const execution = await until('the end', async () => {
    const found = await pms.call('getExecution', { path: { id } });
    return found.status === 'completed' && found;
  });
  expect(execution.output).toBe('done');
});
