import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createStartPace, type StartPaceOptions } from '../../../src/services/executions/start-pace.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A pace, and what a workspace has been allowed to start. */
function setUp(options: StartPaceOptions) {
  let finish: (id: string) => void = () => {};
  const pace = createStartPace(
    {
      on: (_channel, heard) => {
        finish = heard;
      },
    },
    options,
  );
  const started: string[] = [];
  const dones = new Map<string, () => void>();
  const ask = (workspace: string, ...ids: string[]) => {
    for (const id of ids)
      void pace.turn(workspace, id).then((done) => {
        started.push(id);
        dones.set(id, done);
      });
  };
  return { ask, started, done: (id: string) => dones.get(id)?.(), finish: (id: string) => finish(id) };
}

const settled = () => delay(0);
/** Nothing happens by the clock. */
const PATIENT = { patienceMs: 1_000_000, pauseMs: 1_000_000 };

test('a few starts are in flight at a time; of a line, one is made after the other', async () => {
  const { ask, started, done } = setUp({ ...PATIENT, inFlight: 2 });
  ask('a', '1', '2', '3', '4');
  await settled();
  expect(started).toEqual(['1', '2', '3']);
  done('1');
  done('2');
  await settled();
  expect(started).toEqual(['1', '2', '3']);
  done('3');
  await settled();
  expect(started).toEqual(['1', '2', '3', '4']);
});

test('another workspace does not wait', async () => {
  const { ask, started } = setUp({ ...PATIENT, inFlight: 1 });
  ask('a', '1', '2', '3');
  ask('b', '4');
  await settled();
  expect(started).toEqual(['1', '2', '4']);
});

test('the line does not wait for a start that takes long', async () => {
  const { ask, started, done } = setUp({ ...PATIENT, inFlight: 1, patienceMs: 1 });
  ask('a', '1', '2', '3', '4');
  await waitFor('all to be started', async () => started.length === 4);
  // Those that end later hold up nobody, and let nobody in twice.
  for (const id of ['1', '2', '3', '4']) done(id);
  ask('a', '5');
  await settled();
  expect(started).toEqual(['1', '2', '3', '4', '5']);
});

test('where many go on, one that ends is replaced at once', async () => {
  const { ask, started, done, finish } = setUp({ ...PATIENT, many: 2 });
  ask('a', '1', '2', '3', '4');
  await settled();
  for (const id of ['1', '2']) done(id);
  await settled();
  expect(started).toEqual(['1', '2']);
  finish('1');
  await settled();
  expect(started).toEqual(['1', '2', '3']);
});

test('where many go on and none ends, their number grows slowly', async () => {
  const { ask, started, done } = setUp({ ...PATIENT, many: 1, pauseMs: 1 });
  ask('a', '1', '2', '3');
  await waitFor('all to be started', async () => {
    for (const id of started) done(id);
    return started.length === 3;
  });
});

test('one of whose end nothing is heard counts no more after a while', async () => {
  const { ask, started, done } = setUp({ ...PATIENT, many: 1, countedMs: 1 });
  ask('a', '1');
  await delay(5);
  done('1');
  ask('a', '2');
  await settled();
  expect(started).toEqual(['1', '2']);
});
