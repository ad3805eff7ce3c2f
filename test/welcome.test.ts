import { expect, test } from '@jest/globals';
import { type Started, welcomeText } from '../src/welcome.ts';

const STARTED: Started = {
  host: '127.0.0.1',
  port: 3000,
  metricsPort: 9464,
  temporal: { address: '127.0.0.1:44253', isEmbedded: true, uiUrl: 'http://127.0.0.1:8233' },
  firstKey: { file: '/data/first-api-key', newText: undefined },
};

const lineOf = (name: string, started: Partial<Started>) =>
  new RegExp(`^  ${name} +(.*)$`, 'm').exec(welcomeText({ ...STARTED, ...started }))?.[1];

test('the Temporal UI is the started one, off without one, and elsewhere with a Temporal of the operator', () => {
  const { temporal } = STARTED;
  expect(lineOf('Temporal UI', {})).toBe('http://127.0.0.1:8233');
  expect(lineOf('Temporal UI', { temporal: { ...temporal, uiUrl: undefined } })).toBe('off');
  const own = { address: 'temporal:7233', isEmbedded: false, uiUrl: undefined };
  expect(lineOf('Temporal UI', { temporal: own })).toBe('see the Temporal server at temporal:7233');
});

test('the first key is shown at the start that made it', () => {
  const { file } = STARTED.firstKey;
  expect(lineOf('First API key', {})).toBe(`kept in ${file}`);
  expect(lineOf('First API key', { firstKey: { file, newText: 'pms_abc' } })).toBe(
    `pms_abc  (shown once; kept in ${file})`,
  );
});

test('an IPv6 address stands in brackets, and metrics can be off', () => {
  expect(lineOf('API', { host: '::1' })).toBe('http://[::1]:3000/v1');
  expect(lineOf('Metrics', { metricsPort: 0 })).toBe('off');
});
