import { expect, test } from '@jest/globals';
import { currentTraceparent, parseTraceparent } from '../../src/lib/traceparent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('a span is parsed as W3C Trace Context writes it', () => {
  expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, traceFlags: 1, isRemote: true });
  expect(parseTraceparent(`00-${traceId}-${spanId}-00`)).toMatchObject({ traceFlags: 0 });
});

test.each([
  undefined,
  null,
  42,
  {},
  '',
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
])('%p is none', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test('there is none without a trace', () => {
  expect(currentTraceparent()).toBeUndefined();
});
