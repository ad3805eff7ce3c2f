import { expect, test } from '@jest/globals';
import { durationText } from '../../../src/domain/text/duration-text.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

test.each([
  [MINUTE_MS, '1 min'],
  [5 * MINUTE_MS, '5 min'],
  [30 * MINUTE_MS, '30 min'],
  [2 * HOUR_MS, '2 h'],
  [6 * HOUR_MS, '6 h'],
])('the specification’s wait of %d ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [0, '0 ms'],
  [0.4, '0 ms'],
  [250, '250 ms'],
  [SECOND_MS, '1 s'],
  [2_371.532, '2.4 s'],
  [45 * SECOND_MS, '45 s'],
  [90 * SECOND_MS, '1.5 min'],
  [90 * MINUTE_MS, '1.5 h'],
  [100 * HOUR_MS, '100 h'],
])('%d ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
