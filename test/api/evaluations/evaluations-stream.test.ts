import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type EventReader, readEvents } from '../../support/event-stream.ts';
import { until } from '../../support/wait-for.ts';
import { createKey, createOtherWorkspace } from '../workspace.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

const EVALUATORS = [{ type: 'exact_match' }];

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({}, { QUOTA_STREAMS: '5' });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const open: EventReader[] = [];
async function read(id: string, key = stage.service.key): Promise<EventReader> {
  const reader = await readEvents({ origin: stage.service.origin, key }, `/evaluations/${id}/stream`);
  open.push(reader);
  return reader;
}
afterEach(async () => {
  for (const reader of open.splice(0)) reader.close();
  const metric = stage.service.dependencies.registry.getSingleMetric('pms_streams_open');
  await until('the end of all streams', async () => (await metric?.get())?.values[0]?.value === 0);
});

const typesOf = ({ events }: EventReader) => [...new Set(events.map(({ event }) => event))];

test('a run streams progress, and ends with the record', async () => {
  stage.openai.behave({ mode: 'hold', after: 3 });
  const id = await stage.begin({ examples: examplesOf('told', 6), evaluators: EVALUATORS, concurrency: 2 });
  const reader = await read(id);
  await until('an example', async () =>
    reader.events.some(({ data }) => data.evaluation.examples_evaluated > 0 && data.evaluation.status === 'running'),
  );
  stage.openai.behave();
  expect(await reader.ended).toBe('ended');
  expect(reader.status).toBe(200);
  expect(reader.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
  expect(typesOf(reader)).toEqual(['evaluation.progress', 'evaluation.completed']);
  expect(reader.events.every(({ id: eventId, event, data }) => eventId === '' && data.type === event)).toBe(true);
  const counts = reader.events.map(({ data }) => data.evaluation.examples_evaluated);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(reader.events.at(-1)?.data).toEqual({ type: 'evaluation.completed', evaluation: await stage.read(id) });
  const texts = reader.events.map(({ data }) => JSON.stringify(data));
  expect(new Set(texts).size).toBe(texts.length);
});

test('an ended run streams only its end', async () => {
  const { id } = await stage.run({ examples: examplesOf('over', 2), evaluators: EVALUATORS });
  const reader = await read(id);
  expect(await reader.ended).toBe('ended');
  expect(reader.events.map(({ event }) => event)).toEqual(['evaluation.completed']);
});

test('all readers see pausing, resuming and canceling', async () => {
  stage.openai.behave({ mode: 'hold' });
  const id = await stage.begin({ examples: examplesOf('control', 3), evaluators: EVALUATORS });
  await stage.until(id, 'running');
  const readers = [await read(id), await read(id)];
  const hasStatus = (status: string) =>
    until(`the status ${status}`, async () =>
      readers.every(({ events }) => events.some(({ data }) => data.evaluation.status === status)),
    );
  await stage.control(id, 'pause');
  await hasStatus('paused');
  await stage.control(id, 'resume');
  await stage.control(id, 'cancel');
  for (const reader of readers) {
    expect(await reader.ended).toBe('ended');
    expect(reader.events.at(-1)).toMatchObject({
      event: 'evaluation.canceled',
      data: { evaluation: { id, status: 'canceled' } },
    });
  }
});

test('a retried run can be read again', async () => {
  stage.openai.behave({ mode: 'fail', status: 400 });
  const { id, examples_failed } = await stage.run({ examples: examplesOf('again', 2), evaluators: EVALUATORS });
  expect(examples_failed).toBe(2);
  stage.openai.behave();
  await stage.control(id, 'retry');
  const reader = await read(id);
  expect(await reader.ended).toBe('ended');
  expect(reader.events.at(-1)).toMatchObject({
    event: 'evaluation.completed',
    data: { evaluation: { retries: 1, examples_failed: 0 } },
  });
});

test('an unreadable run is refused before the stream begins', async () => {
  const id = await stage.begin({
    examples: examplesOf('refused', 1),
    evaluators: EVALUATORS,
    start_at: '2999-01-01T00:00:00Z',
  });
  const other = await createOtherWorkspace(stage.service, 'other');
  const { key } = await createKey(stage.service, 'execute');
  const stream = `/evaluations/${id}/stream`;
  expect((await other.call('GET', stream)).status).toBe(404);
  // Even while a caller with permission reads it.
  await read(id);
  expect((await other.call('GET', stream)).status).toBe(404);
  expect((await stage.service.call('GET', stream, { key })).body.error.code).toBe('insufficient_scope');
  expect((await stage.service.call('GET', '/evaluations/eval_x/stream')).status).toBe(404);
  for (let more = 0; more < 4; more++) await read(id);
  const { status, body } = await stage.service.call('GET', stream);
  expect([status, body.error.code]).toEqual([429, 'quota_exceeded']);
  expect(body.error.message).toContain('QUOTA_STREAMS');
});
