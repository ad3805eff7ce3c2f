import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readEvents } from '../../support/event-stream.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { type ImprovementStage, startStage } from './improvements-support.ts';

let stage: ImprovementStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test('a search streams its progress with each round, and ends with the record', async () => {
  await stage.seed('hidden/streamed', { examples: 120, rules: 4 });
  const { id } = await stage.begin('hidden/streamed', { max_proposals: 6, parallel: 2, seed: 'streamed' });
  const { origin, key } = stage.service;
  const reader = await readEvents({ origin, key }, `/improvements/${id}/stream`);
  expect(await reader.ended).toBe('ended');
  expect(reader.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
  expect([...new Set(reader.events.map(({ event }) => event))]).toEqual([
    'improvement.progress',
    'improvement.completed',
  ]);
  expect(reader.events.every(({ event, data }) => data.type === event && data.improvement.id === id)).toBe(true);
  const made = reader.events.map(({ data }) => data.improvement.proposals.made);
  expect(made).toEqual(made.toSorted((a, b) => a - b));
  expect(new Set(made).size).toBeGreaterThan(1);
  expect(reader.events.at(-1)?.data).toEqual({ type: 'improvement.completed', improvement: await stage.read(id) });

  // An ended one streams only its end, and no other workspace reads it.
  const again = await readEvents({ origin, key }, `/improvements/${id}/stream`);
  expect(await again.ended).toBe('ended');
  expect(again.events.map(({ event }) => event)).toEqual(['improvement.completed']);
  const other = await createOtherWorkspace(stage.service, 'other');
  expect((await other.call('GET', `/improvements/${id}/stream`)).status).toBe(404);
});
