import type { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { evaluationStream } from '../../../src/api/evaluations/progress-format.ts';
import type { SystemDatabase, WorkspaceDatabase } from '../../../src/db/database.ts';
import { TRASH_WORKSPACE } from '../../../src/db/trash.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { EvaluationRow } from '../../../src/services/evaluations/evaluations.ts';
import {
  createProgressHub,
  type ProgressFormat,
  type ProgressHub,
  type ProgressHubDeps,
} from '../../../src/services/streams/progress-hub.ts';
import { seedEvaluation } from '../../support/seed-rows.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

let service: TestService;
let db: WorkspaceDatabase;
const workspaceId = newId();
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'counts what is read for all workspaces' });
  db = service.dependencies.db.workspace(workspaceId);
});
afterAll(() => service?.stop());

const system = () => service.dependencies.db.system;
let id: string;
beforeEach(async () => {
  id = await seedEvaluation(system().query, { workspaceId, count: 3, days: 1, status: 'running' });
});

const log = pino({ level: 'silent' });
/** The state and how many examples are done. */
const brief: ProgressFormat<EvaluationRow> = {
  ...evaluationStream,
  keepAlive: '.',
  encode: (step, { summary }) => `<${step} ${summary?.evaluated}>`,
};
const hub = (over: Partial<ProgressHubDeps<EvaluationRow>> = {}): ProgressHub =>
  createProgressHub({ db: service.dependencies.db, format: brief, log, pollIntervalMs: 10, ...over });

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

// No workflow runs.
const setStatus = (status: string) =>
  system().query({ text: 'update evaluations set status = $2 where id = $1' }, [id, status]);
const addResult = (seq: number) =>
  system().query(
    {
      text: `insert into evaluation_results (evaluation_id, seq, example_key, variables, status, created_at)
             values ($1, $2, 'more', '{}', 'scored', now())`,
    },
    [id, seq],
  );

test('all readers of a process get each change, from the same polls', async () => {
  let looks = 0;
  const counted: SystemDatabase = {
    ...system(),
    query: Object.assign((...parameters: Parameters<SystemDatabase['query']>) => {
      looks += 1;
      return system().query(...parameters);
    }) as SystemDatabase['query'],
  };
  const progress = hub({ db: { system: counted }, pollIntervalMs: 200 });
  const readers: ReturnType<typeof read>[] = [];
  for (let count = 0; count < 50; count++) readers.push(read(await progress.open(db, id)));
  expect(progress.openCount).toBe(50);
  await addResult(3);
  await until('the fourth example', async () => readers.every(({ text }) => text().endsWith('<progress 4>')));
  await setStatus('completed');
  for (const reader of readers) expect(await reader.ended).toBe('ended');
  expect(new Set(readers.map(({ text }) => text().replaceAll(/<progress \d>/g, ''))).size).toBe(1);
  expect(looks).toBeLessThan(50);
  expect(progress.openCount).toBe(0);
});

test('nothing is sent without a change', async () => {
  const progress = hub();
  const reader = read(await progress.open(db, id));
  for (let touched = 0; touched < 5; touched++)
    await system().query({ text: 'update evaluations set check_at = now() where id = $1' }, [id]);
  await addResult(3);
  await until('the fourth example', async () => reader.text().includes('4'));
  expect(reader.text()).toBe('<progress 3><progress 4>');
  await setStatus('canceled');
  await reader.ended;
});

test('a reader whose caller reads nothing is limited to what fits, and is cut off', async () => {
  const long: ProgressFormat<EvaluationRow> = { ...brief, encode: () => `${'x'.repeat(100_000)}${Math.random()}` };
  const progress = hub({ format: long, stalledMs: 50 });
  const stalled = await progress.open(db, id);
  const closed = new Promise((resolve) => stalled.once('close', resolve));
  stalled.on('error', () => {});
  let most = 0;
  const isOver = closed.then(() => true);
  while (!(await Promise.race([isOver, addResultLater()]))) most = Math.max(most, stalled.readableLength);
  expect(most).toBeLessThan(200_000);
  expect(progress.openCount).toBe(0);

  async function addResultLater() {
    await addResult(1_000 + Math.floor(Math.random() * 1e8));
    return false;
  }
});

test.each([
  ['deleted', `update evaluations set workspace_id = '${TRASH_WORKSPACE}' where id = $1`],
  ['gone', 'delete from evaluations where id = $1'],
])('a stream ends when its evaluation is %s, and the next one is refused', async (_, text) => {
  const progress = hub();
  const reader = read(await progress.open(db, id));
  await system().query({ text }, [id]);
  expect(await reader.ended).toBe('ended');
  expect(reader.text()).toBe('<progress 3>');
  await expect(progress.open(db, id)).rejects.toMatchObject({ code: 'not_found' });
  expect(progress.openCount).toBe(0);
});

test('no other workspace reads it, even if a reader does', async () => {
  const progress = hub();
  const reader = read(await progress.open(db, id));
  const stranger = service.dependencies.db.workspace(newId());
  await expect(progress.open(stranger, id)).rejects.toMatchObject({ code: 'not_found' });
  await addResult(3);
  await until('the fourth example', async () => reader.text().includes('4'));
  await setStatus('failed');
  await reader.ended;
});

test('streams continue after a database outage', async () => {
  let isAway = true;
  const shaky: SystemDatabase = {
    ...system(),
    query: ((...parameters: Parameters<SystemDatabase['query']>) => {
      if (isAway) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      return system().query(...parameters);
    }) as SystemDatabase['query'],
  };
  let warnings = 0;
  const counting = Object.assign(pino({ level: 'silent' }), {
    warn: () => {
      warnings += 1;
    },
    error: () => {
      warnings += 1;
    },
  });
  const progress = hub({ db: { system: shaky }, log: counting });
  const reader = read(await progress.open(db, id));
  await until('a look in vain', async () => warnings > 1);
  isAway = false;
  await setStatus('completed');
  expect(await reader.ended).toBe('ended');
  // The summary of a run that has completed is in its row; this one was seeded without.
  expect(reader.text()).toMatch(/^<progress 3>(<progress \w+>)*<completed \w+>$/);
});

test('when the process stops, streams end, and later ones end after stored events', async () => {
  const progress = hub();
  const reader = read(await progress.open(db, id));
  progress.close();
  expect(await reader.ended).toBe('ended');
  const late = read(await progress.open(db, id));
  expect(await late.ended).toBe('ended');
  expect(late.text()).toBe('<progress 3>');
});
