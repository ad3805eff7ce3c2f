import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { current } from './current.mjs';

/** Helpers are loaded once and used by many files: each call is forwarded to the current file's globals. */
const ofCurrent = (name) =>
  new Proxy(() => undefined, {
    apply: (_, self, args) => Reflect.apply(current[name], self, args),
    get: (_, key) => current[name][key],
  });

export const afterAll = ofCurrent('afterAll');
export const afterEach = ofCurrent('afterEach');
export const beforeAll = ofCurrent('beforeAll');
export const beforeEach = ofCurrent('beforeEach');
export const describe = ofCurrent('describe');
export const expect = jestExpect;
export const it = ofCurrent('it');
export const test = ofCurrent('test');

const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
export const jest = {
  useFakeTimers: (options) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
};
