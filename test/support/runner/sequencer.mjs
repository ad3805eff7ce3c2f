import { createRequire } from 'node:module';
import path from 'node:path';

/** Jest's own sequencer, which comes with its core. */
const ofJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const { default: Sequencer } = createRequire(ofJest.resolve('@jest/core'))('@jest/test-sequencer');

/** Folders whose tests mostly wait: for missed heartbeats, for servers to come back. */
const MOSTLY_WAIT = /^test\/(faults|hostile|e2e|telemetry)\//;
/** These run within this part of the sequence, so that none remains for the end, when nothing runs in parallel. */
const WITHIN = 0.8;

/**
 * Jest runs the longest files first, so that waiting tests would run together while the processors idle, followed by the others,
 * which compete. This mixes tests that wait with tests that work.
 */
export default class EvenlyWaiting extends Sequencer {
  sort(tests) {
    const sorted = super.sort([...tests]);
    const waits = ({ path: file, context }) =>
      MOSTLY_WAIT.test(path.relative(context.config.rootDir, file).replaceAll(path.sep, '/'));
    const waiting = sorted.filter(waits);
    const working = sorted.filter((test) => !waits(test));
    const apart = (WITHIN * working.length) / Math.max(1, waiting.length);
    return working
      .map((test, index) => ({ test, at: index }))
      .concat(waiting.map((test, index) => ({ test, at: index * apart - 0.5 })))
      .toSorted((a, b) => a.at - b.at)
      .map(({ test }) => test);
  }
}
