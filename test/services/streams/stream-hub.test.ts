import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { WorkspaceDatabase } from '../../../src/db/database.ts';
import { publicId } from '../../../src/domain/ids.ts';
import { cancelExecution } from '../../../src/services/executions/run/end-execution.ts';
import type { StreamFormat } from '../../../src/services/streams/stream-events.ts';
import { createStreamHub, type StreamHub, type StreamHubDeps } from '../../../src/services/streams/stream-hub.ts';
import { createStreamWriter } from '../../../src/services/streams/stream-writer.ts';
import { deaf } from '../../support/execution-activities.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { streamedCalls } from '../../support/streamed-calls.ts';
import { until } from '../../support/wait-for.ts';

let service: TestService;
let rows: ExecutionRows;
let db: WorkspaceDatabase;
let calls: ReturnType<typeof streamedCalls>;
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'counts what is read for all workspaces' });
  rows = await executionRows(service.dependencies.db);
  calls = streamedCalls(service);
  const first = await rows.queue({});
  db = service.dependencies.db.workspace(String((await rows.read(first))['workspace_id']));
});
afterAll(() => service?.stop());

let id: string;
beforeEach(async () => {
  id = await rows.queue({});
});

const log = pino({ level: 'silent' });
/** One word an event, and the text of a delta. */
const brief: StreamFormat = {
  keepAlive: '.',
  encode: (event) => (event.type === 'output_text.delta' ? event.delta : `<${event.type.replace('execution.', '')}>`),
};

const hub = (over: Partial<StreamHubDeps> = {}): StreamHub =>
  createStreamHub({ db: service.dependencies.db, listener: service.dependencies.listener, log, ...over });

/** Reads on and on. */
function read(stream: Readable) {
  let text = '';
  const ended = new Promise<'ended' | 'cut'>((resolve) => {
    stream.once('end', () => resolve('ended'));
    stream.once('close', () => resolve('cut'));
    stream.on('error', () => {});
  });
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { ended, text: () => text.replaceAll('.', '') };
}

test('readers get everything even without a notification', async () => {
  const streams = hub({ listener: deaf, pollIntervalMs: 10 });
  const reader = read(await streams.open(db, id, brief));
  const call = await calls.begin(publicId('execution', id));
  await call.says('heard');
  await until('the text', async () => reader.text().includes('heard'));
  await call.completes('heard');
  expect(await reader.ended).toBe('ended');
  expect(reader.text()).toBe('<started>heard<completed>');
  expect(streams.openCount).toBe(0);
});

test('a reader whose caller reads nothing is limited to what fits, and is cut off', async () => {
  const streams = hub({ pollIntervalMs: 10, stalledMs: 50 });
  const stalled = await streams.open(db, id, brief);
  const closed = new Promise((resolve) => stalled.once('close', resolve));
  stalled.on('error', () => {});
  const reader = read(await streams.open(db, id, brief));
  const writer = createStreamWriter({ query: service.dependencies.db.system.query, log });
  const stream = writer.open(id, 1, 'ws_test');
  let written = '';
  let most = 0;
  const isOver = closed.then(() => true);
  while (!(await Promise.race([isOver, stream.end().then(() => false)]))) {
    const piece = 'x'.repeat(100_000);
    stream.onDelta({ type: 'text', text: piece });
    written += piece;
    most = Math.max(most, stalled.readableLength);
  }
  expect(most).toBeLessThan(1024 * 1024);
  expect(written.length).toBeGreaterThan(most);
  await until('all of it', async () => reader.text().length === '<started>'.length + written.length);
  expect(streams.openCount).toBe(1);
  await cancelExecution(db, id);
  expect(await reader.ended).toBe('ended');
});

test('closing ends every stream without its last event', async () => {
  const streams = hub();
  const reader = read(await streams.open(db, id, brief));
  await until('the first event', async () => reader.text() !== '');
  streams.close();
  expect(await reader.ended).toBe('ended');
  const late = read(await streams.open(db, id, brief));
  expect(await late.ended).toBe('ended');
  expect([reader.text(), late.text()]).toEqual(['<started>', '<started>']);
  await until('their end', async () => streams.openCount === 0);
});

test('a deleted execution cuts its streams, without a last event', async () => {
  const streams = hub({ listener: deaf, pollIntervalMs: 10 });
  const reader = read(await streams.open(db, id, brief));
  await rows.remove(id);
  expect(await reader.ended).toBe('cut');
  await expect(streams.open(db, id, brief)).rejects.toMatchObject({ code: 'not_found' });
  expect(streams.openCount).toBe(0);
});
