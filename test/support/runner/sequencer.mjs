import { createRequire } from 'node:module';
import path from 'node:path';

/** Jest's own, which comes with its core. */
const ofJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const { default: Sequencer } = createRequire(ofJest.resolve('@jest/core'))('@jest/test-sequencer');

/** Folders whose tests wait most of the time: for heartbeats that are missed, for servers that come back. */
const MOSTLY_WAIT = /^test\/(faults|hostile|e2e|telemetry)\//;
/** Those come in this part of the sequence: none of them is left for the end, where nothing goes on beside it. */
const WITHIN = 0.8;

/**
 * Jest takes the longest files first, which would let those that wait go on beside each other while the processors idle, and the
 * others after them, which want more than there is. Here each that waits goes on beside some that work.
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
