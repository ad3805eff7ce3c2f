import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type EventReader, readEvents, textOf } from '../support/event-stream.ts';
import { type OwnServers, startOwnServers } from '../support/fault-servers.ts';
import { chooseProcesses, KEY, type Processes } from '../support/fault-stage.ts';
import { killOrphans, type Started } from '../support/processes.ts';
import { until } from '../support/wait-for.ts';
import { startWordModel, type WordCall, type WordModel } from '../support/word-model.ts';

let servers: OwnServers;
let model: WordModel;
let processes: Processes;
let api: Started;
let worker: Started;

beforeAll(async () => {
  [servers, model] = await Promise.all([startOwnServers(), startWordModel()]);
  processes = await chooseProcesses({
    databaseUrl: servers.databaseUrl,
    temporalAddress: servers.temporalAddress,
    env: { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: model.baseUrl, SHUTDOWN_GRACE: '60s' },
  });
  [api, worker] = await Promise.all([processes.startApi(), processes.startWorker()]);
  const prompt = { name: 'say', template: '{{ text }}', model: 'openai/gpt-4o-mini' };
  await processes.call('POST', '/prompts', { body: prompt });
});
afterAll(async () => {
  await killOrphans();
  await model?.close();
  await servers?.remove();
});
beforeEach(() => {
  model.calls.length = 0;
});

const start = () =>
  readEvents({ origin: processes.origin, key: KEY }, '/executions', {
    method: 'POST',
    body: { prompt_name: 'say', variables: { text: 'it' } },
  });
const goOn = (id: string, lastEventId: string) =>
  readEvents({ origin: processes.origin, key: KEY }, `/executions/${id}/stream`, {
    headers: { 'Last-Event-ID': lastEventId },
  });
const call = (nth: number): Promise<WordCall> => until(`call ${nth}`, async () => model.calls[nth - 1]);
const said = (reader: EventReader, text: string) => until(text, async () => textOf(reader.events) === text);
const idOf = (reader: EventReader): string => reader.events[0]?.data.execution.id;
const types = (reader: EventReader) => reader.events.map(({ event }) => event);

test('words reach the caller one by one while the model speaks', async () => {
  const reader = await start();
  const first = await call(1);
  let text = '';
  for (const word of ['One ', 'by ', 'one.']) {
    first.say(word);
    text += word;
    await said(reader, text);
  }
  first.finish();
  expect(await reader.ended).toBe('ended');
  expect(reader.events.at(-1)).toMatchObject({
    event: 'execution.completed',
    data: { execution: { output: text, attempts: 1 } },
  });
  expect(types(reader)).not.toContain('execution.restarted');
});

test('a worker killed in mid-stream: another one restarts, and the caller gets the whole response', async () => {
  const reader = await start();
  const first = await call(1);
  first.say('The first worker will not fin');
  await said(reader, 'The first worker will not fin');
  await worker.killTree();
  worker = await processes.startWorker();
  const second = await call(2);
  second.say('The second ');
  await said(reader, 'The second ');
  second.say('one does.');
  second.finish();
  await reader.ended;
  expect(textOf(reader.events)).toBe('The second one does.');
  expect(types(reader).filter((type) => type === 'execution.restarted')).toHaveLength(1);
  expect(reader.events.at(-1)).toMatchObject({ data: { execution: { output: 'The second one does.', attempts: 2 } } });
  expect(model.calls).toHaveLength(2);
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'an API that gets %s in mid-stream: the caller continues on the next',
  async (signal) => {
    const reader = await start();
    const first = await call(1);
    first.say('one ');
    await said(reader, 'one ');
    api.kill(signal);
    // Streams do not use up the time of other requests.
    expect(await reader.ended).toBe(signal === 'SIGTERM' ? 'ended' : 'cut');
    await api.ended;
    first.say('two ');
    api = await processes.startApi();
    const next = await goOn(idOf(reader), reader.events.at(-1)?.id ?? '');
    await said(next, 'two ');
    first.say('three');
    first.finish();
    await next.ended;
    const all = [...reader.events, ...next.events];
    expect(textOf(all)).toBe('one two three');
    expect(all.map(({ data }) => data.sequence_number)).toEqual(all.map((_, index) => index + 1));
    expect(model.calls).toHaveLength(1);
  },
);

test.each(['stop', 'kill'] as const)(
  'PostgreSQL goes down in mid-stream (%s): the caller has the whole response in the end',
  async (end) => {
    const reader = await start();
    const first = await call(1);
    first.say('before ');
    await said(reader, 'before ');
    await servers.postgres[end]();
    first.say('during ');
    await servers.postgres.start();
    first.say('after');
    first.finish();
    expect(await reader.ended).toBe('ended');
    expect(textOf(reader.events)).toBe('before during after');
    expect(reader.events.at(-1)).toMatchObject({
      event: 'execution.completed',
      data: { execution: { output: 'before during after', attempts: 1 } },
    });
    expect(model.calls).toHaveLength(1);
  },
);

test('a caller that cancels sees it in the stream', async () => {
  const reader = await start();
  const first = await call(1);
  first.say('until ');
  await said(reader, 'until ');
  await processes.call('POST', `/executions/${idOf(reader)}/cancel`);
  expect(await reader.ended).toBe('ended');
  expect(types(reader)).toEqual(['execution.started', 'output_text.delta', 'execution.canceled']);
  await until('the end of the call', async () => first.isGone());
});
