import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { CHANNELS, type Channel } from '../../../src/db/listener.ts';
import {
  createStartLimiter,
  type StartLimiterOptions,
} from '../../../src/services/executions/creation/start-limiter.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A limiter, and the starts that it has allowed. */
function setUp(options: StartLimiterOptions) {
  const heardBy = new Map<Channel, (id: string) => void>();
  const limiter = createStartLimiter({ on: (channel, heard) => void heardBy.set(channel, heard) }, options);
  const started: string[] = [];
  const ended: string[] = [];
  const ask = (workspace: string, ...ids: string[]) => {
    for (const id of ids) void limiter.mayStart(workspace, id).then((isTurn) => (isTurn ? started : ended).push(id));
  };
  return {
    waiting: () => limiter.waiting(),
    callBegan: (id: string) => limiter.callBegan(id),
    untilQuiet: (maxMs: number) => limiter.untilQuiet(maxMs),
    ask,
    started,
    ended,
    begin: (id: string) => heardBy.get(CHANNELS.executionBegun)?.(id),
    finish: (id: string) => heardBy.get(CHANNELS.executionFinished)?.(id),
  };
}

const settled = () => delay(0);
/** Nothing happens by the clock. */
const PATIENT = { maxWaitMs: 1_000_000, pauseMs: 1_000_000, spreadMs: 0 };

test('a start waits until the call of an earlier one has begun, if a few have not', async () => {
  const { ask, started, begin, waiting } = setUp({ ...PATIENT, beginning: 2 });
  ask('a', '1', '2', '3', '4', '5');
  await settled();
  expect(started).toEqual(['1', '2']);
  expect(waiting()).toBe(3);
  begin('1');
  begin('1');
  await settled();
  expect(started).toEqual(['1', '2', '3']);
  begin('3');
  begin('2');
  await settled();
  expect(started).toEqual(['1', '2', '3', '4', '5']);
});

test('a call that begins in this process needs no notification, and one in another process is unknown', async () => {
  const { ask, started, callBegan } = setUp({ ...PATIENT, beginning: 1 });
  ask('a', '1', '2', '3');
  expect(callBegan('9')).toBe(false);
  await settled();
  expect(started).toEqual(['1']);
  expect(callBegan('1')).toBe(true);
  await settled();
  expect(started).toEqual(['1', '2']);
});

test('one that ends without a call gives room, too', async () => {
  const { ask, started, finish } = setUp({ ...PATIENT, beginning: 1 });
  ask('a', '1', '2', '3');
  finish('1');
  await settled();
  expect(started).toEqual(['1', '2']);
});

test('starts that end while they wait are released at once, and block no other', async () => {
  const { ask, started, ended, begin, finish } = setUp({ ...PATIENT, beginning: 1, many: 2 });
  ask('a', '1', '2', '3', '4');
  finish('3');
  finish('2');
  await settled();
  expect({ started, ended }).toEqual({ started: ['1'], ended: ['3', '2'] });
  begin('1');
  await settled();
  expect({ started, ended }).toEqual({ started: ['1', '4'], ended: ['3', '2'] });
});

test('another workspace does not wait', async () => {
  const { ask, started } = setUp({ ...PATIENT, beginning: 1 });
  ask('a', '1', '2', '3');
  ask('b', '4');
  await settled();
  expect(started).toEqual(['1', '4']);
});

test('a call that does not begin for long blocks no start', async () => {
  const { ask, started, begin } = setUp({ ...PATIENT, beginning: 1, maxWaitMs: 1 });
  ask('a', '1', '2', '3', '4');
  await waitFor('all to be started', async () => started.length === 4);
  // Later starts admit no execution twice.
  for (const id of ['1', '2', '3', '4']) begin(id);
  ask('a', '5');
  await settled();
  expect(started).toEqual(['1', '2', '3', '4', '5']);
});

test('if few are active, the next starts when the call before it begins', async () => {
  const { ask, started, begin } = setUp({ ...PATIENT, spreadMs: 1_000_000 });
  ask('a', '1', '2', '3');
  ask('b', '4');
  await settled();
  expect(started).toEqual(['1', '4']);
  begin('1');
  await settled();
  expect(started).toEqual(['1', '4', '2']);
});

test('if few are active, the next starts after some milliseconds at the latest', async () => {
  const { ask, started } = setUp({ ...PATIENT, beginning: 5, spreadMs: 2 });
  ask('a', '1', '2', '3', '4', '5', '6');
  await waitFor('starts', async () => started.length === 5);
  await delay(5);
  expect(started).toEqual(['1', '2', '3', '4', '5']);
});

test('if more than a few run, starts are not spread out', async () => {
  const { ask, started } = setUp({ ...PATIENT, few: 1, spreadMs: 1_000_000 });
  ask('a', '1', '2', '3');
  await settled();
  expect(started).toEqual(['1', '2', '3']);
});

test('if many run, one that ends is replaced at once', async () => {
  const { ask, started, begin, finish } = setUp({ ...PATIENT, many: 2 });
  ask('a', '1', '2', '3', '4');
  for (const id of ['1', '2']) begin(id);
  await settled();
  expect(started).toEqual(['1', '2']);
  finish('1');
  await settled();
  expect(started).toEqual(['1', '2', '3']);
});

test('if many run and none ends, their number grows slowly', async () => {
  const { ask, started, begin } = setUp({ ...PATIENT, many: 1, pauseMs: 1 });
  ask('a', '1', '2', '3');
  await waitFor('all to be started', async () => {
    for (const id of started) begin(id);
    return started.length === 3;
  });
});

test('one whose end is not reported no longer counts after a while', async () => {
  const { ask, started, begin } = setUp({ ...PATIENT, many: 1, countedMs: 1 });
  ask('a', '1');
  begin('1');
  await delay(5);
  ask('a', '2');
  await settled();
  expect(started).toEqual(['1', '2']);
});

test('it is idle when no start of any workspace waits for its call, or the time is up', async () => {
  const { ask, begin, finish, untilQuiet } = setUp({ ...PATIENT, beginning: 1 });
  await untilQuiet(1_000_000);
  ask('a', '1', '2');
  ask('b', '3');
  let isQuiet = false;
  const waited = untilQuiet(1_000_000).then(() => {
    isQuiet = true;
  });
  await untilQuiet(1);
  begin('1');
  begin('1');
  begin('3');
  await settled();
  // The next one of its workspace was admitted.
  expect(isQuiet).toBe(false);
  finish('2');
  await waited;
  await untilQuiet(1_000_000);
});
