import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { keepRunning } from '../../src/embedded/keep-running.ts';
import { type Started, startProcess } from '../support/processes.ts';
import { until } from '../support/wait-for.ts';

const log = pino({ level: 'silent' });

/** A server that does nothing, with a start that can be held up. */
function servers() {
  const started: Started[] = [];
  let hold: Promise<void> = Promise.resolve();
  return {
    started,
    holdStarts(by: Promise<void>) {
      hold = by;
    },
    start: async () => {
      await hold;
      const one = startProcess(['sleep', '600']);
      started.push(one);
      return {
        exited: one.ended,
        stop: async () => {
          one.kill('SIGTERM');
          await one.ended;
        },
      };
    },
  };
}

test('restarts a server that ended by itself, and stops the running one', async () => {
  const { started, start } = servers();
  const kept = await keepRunning('It', start, log);
  started[0]?.kill('SIGKILL');
  await until('the next', async () => started.length === 2);
  await kept.stop();
  expect((await started[1]?.ended)?.signal).toBe('SIGTERM');
  expect(started).toHaveLength(2);
});

test('stops while the server restarts, and leaves none behind', async () => {
  const all = servers();
  let holding = false;
  let release = () => {};
  const start = () => {
    if (all.started.length === 1) holding = true;
    return all.start();
  };
  const kept = await keepRunning('It', start, log);
  all.holdStarts(
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  all.started[0]?.kill('SIGKILL');
  await until('the next start', async () => holding);
  const stopped = kept.stop();
  release();
  await stopped;
  expect((await all.started[1]?.ended)?.signal).toBe('SIGTERM');
});
