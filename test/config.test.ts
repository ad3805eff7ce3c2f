import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { parseSettings, requireServers, SettingsError } from '../src/config.ts';

const problemsOf = (environment: Record<string, string>): string[] => {
  try {
    parseSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
};
const key = () => randomBytes(32).toString('base64');

test('an empty environment has the documented defaults', () => {
  expect(parseSettings({})).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    metricsPort: 9464,
    databaseUrl: undefined,
    temporal: { address: undefined, namespace: 'default', uiPort: 8233 },
    bootstrapApiKey: undefined,
    encryptionKeys: undefined,
    models: { timeoutMs: 120_000 },
    rateLimitPerMinute: 1200,
    workspaceRateLimitPerMinute: 12_000,
    trustProxy: false,
    logLevel: 'info',
  });
  expect(parseSettings({}).dataDir).toMatch(/\.data$/);
});

test('an empty variable counts as unset', () => {
  expect(parseSettings({ PORT: '', DATABASE_URL: '', ENCRYPTION_KEY: '', BOOTSTRAP_API_KEY: '' })).toMatchObject({
    port: 3000,
    databaseUrl: undefined,
    encryptionKeys: undefined,
  });
});

test('white space around a value is dropped, such as the line break at the end of a secret', () => {
  const settings = parseSettings({
    OPENAI_API_KEY: ' sk-1\r\n',
    BOOTSTRAP_API_KEY: `${'k'.repeat(16)}\n`,
    PORT: ' \n',
  });
  expect(settings.models.providers['openai']?.apiKey).toBe('sk-1');
  expect([settings.bootstrapApiKey, settings.port]).toEqual(['k'.repeat(16), 3000]);
});

test.each(['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'TEMPORAL_API_KEY'])(
  'a key that no header can hold is refused without showing it: %s',
  (name) => {
    for (const value of ['sk-secret\nsk-secret', '“sk-secret”', 'sk-secret x']) {
      const problems = problemsOf({ [name]: value });
      expect(problems).toEqual([expect.stringContaining(`${name}: must be visible ASCII`)]);
      expect(problems.join()).not.toContain('sk-secret');
    }
  },
);

test.each<[string, string]>([
  ['PORT', 'http'],
  ['PORT', '70000'],
  ['PORT', '-1'],
  ['PORT', '1.5'],
  ['METRICS_PORT', 'x'],
  ['DATABASE_URL', 'mysql://x'],
  ['DATABASE_POOL_SIZE', '1'],
  ['TEMPORAL_ADDRESS', 'localhost'],
  ['TEMPORAL_ADDRESS', 'http://localhost:7233'],
  ['TEMPORAL_TASK_QUEUE_PREFIX', 'a b'],
  ['TEMPORAL_TLS_CERT', '/nowhere/cert.pem'],
  ['BOOTSTRAP_API_KEY', 'short'],
  ['BOOTSTRAP_API_KEY', 'with a space in it'],
  ['ENCRYPTION_KEY', 'c2hvcnQ='],
  ['ENCRYPTION_KEY', `${randomBytes(32).toString('base64')},x`],
  ['TEMPORAL_PAYLOAD_KEYS', 'c2hvcnQ='],
  ['TEMPORAL_PAYLOAD_KEYS', 'none'],
  ['TEMPORAL_PAYLOAD_KEYS', 'none,'],
  ['CODEC_SERVER_TOKEN', 'short'],
  ['OPENAI_BASE_URL', 'ftp://x'],
  ['OPENAI_COMPATIBLE_BASE_URL', 'nonsense'],
  ['MODEL_TIMEOUT', '10'],
  ['MODEL_TIMEOUT', '0s'],
  ['MODEL_TIMEOUT', '1000d'],
  ['RATE_LIMIT_PER_MINUTE', '-1'],
  ['RATE_LIMIT_PER_MINUTE', 'many'],
  ['TRUST_PROXY', 'yes'],
  ['LOG_LEVEL', 'loud'],
  ['MODEL_PRICES_FILE', '/nowhere/prices.json'],
])('%s=%s is refused by its name', (name, value) => {
  expect(problemsOf({ [name]: value }).some((problem) => problem.startsWith(name))).toBe(true);
});

test('all errors are reported at once', () => {
  expect(problemsOf({ PORT: 'x', LOG_LEVEL: 'x', ENCRYPTION_KEY: 'x' })).toHaveLength(3);
  expect(new SettingsError(['A: b', 'C: d']).message).toBe('The settings are wrong:\n  - A: b\n  - C: d');
});

test('a problem never shows a secret', () => {
  const secret = 'very secret with spaces';
  for (const name of ['BOOTSTRAP_API_KEY', 'ENCRYPTION_KEY', 'DATABASE_URL'])
    expect(problemsOf({ [name]: secret }).join()).not.toContain('secret');
});

test.each<[string, number]>([
  ['500ms', 500],
  ['10s', 10_000],
  ['2m', 120_000],
  ['1.5 h', 5_400_000],
])('a time of %s is %i ms', (text, ms) => {
  expect(parseSettings({ MODEL_TIMEOUT: text }).models.timeoutMs).toBe(ms);
});

test('several encryption keys rotate', () => {
  const [one, two] = [key(), key()];
  expect(
    parseSettings({ ENCRYPTION_KEY: `${one}, ${two}` }).encryptionKeys?.map((bytes) => bytes.toString('base64')),
  ).toEqual([one, two]);
});

test('payload keys encrypt, unless "none" precedes them', () => {
  const [one, two] = [key(), key()];
  const parsed = (text: string) => parseSettings({ TEMPORAL_PAYLOAD_KEYS: text }).temporal.payloadKeys;
  const keys = [Buffer.from(one, 'base64'), Buffer.from(two, 'base64')];
  expect(parsed(`${one},${two}`)).toEqual({ encrypts: true, keys });
  expect(parsed(`none, ${one},${two}`)).toEqual({ encrypts: false, keys });
  expect(parsed('')).toBeUndefined();
});

test('processes without their own servers name the settings they need', () => {
  expect(() => requireServers(parseSettings({}))).toThrow(/DATABASE_URL.*TEMPORAL_ADDRESS.*ENCRYPTION_KEY/s);
  const settings = parseSettings({
    DATABASE_URL: 'postgresql://u:p@h/d',
    TEMPORAL_ADDRESS: 'h:7233',
    ENCRYPTION_KEY: key(),
  });
  expect(requireServers(settings)).toMatchObject({ databaseUrl: 'postgresql://u:p@h/d', temporalAddress: 'h:7233' });
});

test.each([
  [{}, { traces: false, metrics: false, captureContent: false }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, { traces: true, metrics: true, captureContent: false }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, { traces: false, metrics: false }],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, { traces: true, metrics: false }],
  [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318/v1/metrics' }, { traces: false, metrics: true }],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_METRICS_EXPORTER: 'none' },
    { traces: true, metrics: false },
  ],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, { traces: true, metrics: false }],
  [
    { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'True' },
    { traces: false, metrics: false },
  ],
  [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'yes' }, { traces: true }],
  [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' }, { captureContent: true }],
])("telemetry follows OpenTelemetry's variables: %j", (environment: Record<string, string>, expected) => {
  expect(parseSettings(environment).telemetry).toMatchObject(expected);
});
