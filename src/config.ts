import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import ms from 'ms';
import { z } from 'zod';
import { DECLARATIONS } from './domain/capabilities.ts';
import { merge, type QuotaDeclaration, type RetentionDeclaration } from './domain/capability.ts';
import {
  Bytes,
  Count,
  Duration,
  EncryptionKeys,
  HeaderValue,
  HttpUrl,
  Origins,
  PayloadKeys,
  Port,
  Retention,
  Waits,
} from './lib/setting-values.ts';
import type { ProviderVariables } from './models/providers/provider.ts';
import { PROVIDERS } from './models/providers/registry.ts';
import type { AllowPrivate } from './outbound/target.ts';
import { type ProviderSettings, readProviders } from './sign-in/provider-settings.ts';
import type { TelemetrySettings } from './telemetry/settings.ts';

/** Invalid settings: `problems` names each, so that all can be fixed together. */
export class SettingsError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: Port.default(3000),
  METRICS_PORT: Port.default(9464),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must look like postgresql://user:password@host:5432/database')
    .optional(),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(500).default(20),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^/\s]+:\d+$/, 'must be host:port')
    .optional(),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_TASK_QUEUE_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,50}$/, 'must be 1 to 50 letters, digits, "_" or "-"')
    .optional(),
  TEMPORAL_API_KEY: HeaderValue.optional(),
  TEMPORAL_TLS_CERT: z.string().optional(),
  TEMPORAL_TLS_KEY: z.string().optional(),
  TEMPORAL_PAYLOAD_KEYS: PayloadKeys.optional(),
  TEMPORAL_UI_PORT: Port.default(8233),
  TEMPORAL_UI_URL: HttpUrl.optional(),
  TEMPORAL_CALL_STACKS: z.enum(['true', 'false'], 'must be true or false').default('false'),
  CODEC_SERVER_PORT: Port.default(8081),
  CODEC_SERVER_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{32,255}$/, 'must be 32 to 255 visible ASCII characters')
    .optional(),
  BOOTSTRAP_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{16,255}$/, 'must be 16 to 255 visible ASCII characters')
    .optional(),
  ENCRYPTION_KEY: EncryptionKeys.optional(),
  WORKSPACE_CONCURRENCY: z.coerce.number().int().min(1).max(10_000).default(100),
  OPENAI_COMPATIBLE_BATCHES: z.enum(['true', 'false'], 'must be true or false').default('false'),
  MODEL_PRICES_FILE: z.string().optional(),
  MODEL_TIMEOUT: Duration.default(120_000),
  SHUTDOWN_GRACE: Duration.optional(),
  RECONCILE_EVERY: Duration.default(15_000),
  SEARCH_INDEX: z.enum(['true', 'false'], 'must be true or false').default('false'),
  RATE_LIMIT_PER_MINUTE: Count.default(1200),
  WORKSPACE_RATE_LIMIT_PER_MINUTE: Count.optional(),
  MAX_CONNECTIONS: Count.default(10_000),
  MAX_CONNECTIONS_PER_ADDRESS: Count.default(1_000),
  CORS_ORIGINS: Origins.default([]),
  WEBHOOK_RETRY_WAITS: Waits.default([60_000, 300_000, 1_800_000, 7_200_000, 21_600_000]),
  WEBHOOK_TIMEOUT: Duration.refine((time) => time <= 300_000, 'must be at most 5m').default(10_000),
  WEBHOOK_HOST_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(32),
  WEBHOOK_ALLOW_PRIVATE: z.enum(['false', 'loopback', 'true'], 'must be false, loopback or true').optional(),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must look like smtp://user:password@host:587 or smtps://host:465' })
    .optional(),
  MAIL_FROM: z.string().optional(),
  PUBLIC_URL: HttpUrl.optional(),
  SCIM_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{32,255}$/, 'must be 32 to 255 visible ASCII characters')
    .optional(),
  CONSOLE_KEY_SIGN_IN: z.enum(['true', 'false'], 'must be true or false').default('true'),
  CONSOLE_LOCALE: z
    .string()
    .regex(/^([a-z]{2,3}(-[A-Za-z0-9]{2,8})*|pseudo)$/, 'must be the tag of a language, such as de or pt-BR')
    .default('en'),
  TRUST_PROXY: z.enum(['true', 'false'], 'must be true or false').default('false'),
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  OTEL_METRICS_EXPORTER: z.string().optional(),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: z.string().optional(),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be trace, debug, info, warn or error')
    .default('info'),
});

type Environment = z.output<typeof Environment>;

const QUOTAS = merge(DECLARATIONS, 'quotas');
const RETENTION = merge(DECLARATIONS, 'retention');

/** The quotas and retention times that each capability declares in `domain/capabilities`. */
const LimitEnvironment = z.object({
  ...fieldsBySetting(QUOTAS, (quota: QuotaDeclaration) => (quota.inBytes ? Bytes : Count).default(quota.default)),
  ...fieldsBySetting(RETENTION, ({ default: value, atLeast = 0 }: RetentionDeclaration) => {
    const field = Retention.refine((time) => time >= atLeast, `must be at least ${ms(atLeast)}`);
    return value === undefined ? field.optional() : field.default(value);
  }),
});

function fieldsBySetting<Declared extends { setting: string }, Field>(
  declarations: Record<string, Declared>,
  toField: (declared: Declared) => Field,
): Record<string, Field> {
  return Object.fromEntries(Object.values(declarations).map((each) => [each.setting, toField(each)]));
}

/** Limits by the name that the capability gives the setting. */
function limitsOf(env: z.output<typeof LimitEnvironment>) {
  const named = (declarations: Record<string, { setting: string }>) =>
    Object.fromEntries(Object.entries(declarations).map(([name, { setting }]) => [name, env[setting]]));
  return {
    quotas: named(QUOTAS) as Record<keyof typeof QUOTAS, number>,
    retention: named(RETENTION) as {
      [Name in keyof typeof RETENTION]: (typeof RETENTION)[Name] extends { default: number }
        ? number
        : number | undefined;
    },
  };
}

/** The variables that each provider's file in `models/providers` names. */
const ProviderEnvironment = z.object({
  ...fieldsOf(({ apiKey }) => apiKey, HeaderValue.optional()),
  ...fieldsOf(({ baseUrl }) => baseUrl, HttpUrl.optional()),
});
type ProviderEnvironment = z.output<typeof ProviderEnvironment>;

function fieldsOf<Field>(nameOf: (settings: ProviderVariables) => string, field: Field): Record<string, Field> {
  return Object.fromEntries(PROVIDERS.map(({ settings }) => [nameOf(settings), field]));
}

/** Problems that concern several settings. */
function problemsOf(env: Environment): string[] {
  const problems: string[] = [];
  if ((env.TEMPORAL_TLS_CERT === undefined) !== (env.TEMPORAL_TLS_KEY === undefined))
    problems.push('TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY must be set together');
  if ((env.SMTP_URL === undefined) !== (env.MAIL_FROM === undefined))
    problems.push('SMTP_URL and MAIL_FROM must be set together');
  for (const name of ['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY', 'MODEL_PRICES_FILE'] as const) {
    const file = env[name];
    if (file !== undefined && !existsSync(file)) problems.push(`${name}: there is no file ${file}`);
  }
  return problems;
}

function problemsOfSignIn(env: Environment, identityProviders: readonly ProviderSettings[]): string[] {
  const problems = identityProviders.flatMap(({ ca }) =>
    ca === undefined || existsSync(ca) ? [] : [`OIDC_CA: there is no file ${ca}`],
  );
  if (identityProviders.length > 0 && env.PUBLIC_URL === undefined)
    problems.push(
      'PUBLIC_URL: set it to the address at which browsers reach the service; identity providers redirect people to it',
    );
  if (identityProviders.length > 0 && env.PUBLIC_URL?.startsWith('https:') && env.TRUST_PROXY === 'false')
    problems.push(
      'TRUST_PROXY: set it to true where PUBLIC_URL is https: the service learns from the proxy that browsers came by TLS, and protects its cookies by that',
    );
  if (env.SCIM_TOKEN !== undefined && identityProviders.length === 0)
    problems.push('SCIM_TOKEN: set OIDC_ISSUER, too: people who are provisioned sign in there');
  if (env.CONSOLE_KEY_SIGN_IN === 'false' && identityProviders.length === 0)
    problems.push('CONSOLE_KEY_SIGN_IN: false requires OIDC_ISSUER, otherwise no one could sign in');
  return problems;
}

/** OpenTelemetry's rule: any value other than case-insensitive "true" is false. */
const isTrue = (value: string | undefined): boolean => value?.trim().toLowerCase() === 'true';

/** Traces and metrics are sent if a setting says where or how. The SDK reads all other `OTEL_*` variables itself. */
function telemetryOf(env: Environment): TelemetrySettings {
  const everywhere = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOn = (exporter: string | undefined, endpoint = everywhere) =>
    !isTrue(env.OTEL_SDK_DISABLED) && (exporter === undefined ? endpoint !== undefined : exporter.trim() !== 'none');
  return {
    traces: isOn(env.OTEL_TRACES_EXPORTER, env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
    metrics: isOn(env.OTEL_METRICS_EXPORTER, env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT),
    captureContent: isTrue(env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT),
  };
}

/** Every setting of every process. Times are in milliseconds. */
export type Settings = ReturnType<typeof toSettings>;

function toSettings(
  env: Environment,
  limits: ReturnType<typeof limitsOf>,
  providers: ProviderEnvironment,
  identityProviders: ProviderSettings[],
) {
  const { SMTP_URL, MAIL_FROM } = env;
  return {
    host: env.HOST,
    port: env.PORT,
    /** 0 for no metrics server. */
    metricsPort: env.METRICS_PORT,
    dataDir: path.resolve(env.DATA_DIR),
    /** If unset, `npm start` runs its own PostgreSQL. */
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    temporal: {
      /** If unset, `npm start` runs its own Temporal. */
      address: env.TEMPORAL_ADDRESS,
      namespace: env.TEMPORAL_NAMESPACE,
      /** Separates installations that share a namespace. */
      taskQueuePrefix: env.TEMPORAL_TASK_QUEUE_PREFIX,
      apiKey: env.TEMPORAL_API_KEY,
      /** Paths of PEM files. */
      tlsCert: env.TEMPORAL_TLS_CERT,
      tlsKey: env.TEMPORAL_TLS_KEY,
      /** If unset, payloads are not encrypted. */
      payloadKeys: env.TEMPORAL_PAYLOAD_KEYS,
      uiPort: env.TEMPORAL_UI_PORT,
      /** The address of Temporal's UI for people. If unset, the UI of the embedded Temporal, if any. */
      uiUrl: env.TEMPORAL_UI_URL,
      /** Whether its UI can show the call stacks of workflows. */
      callStacks: env.TEMPORAL_CALL_STACKS === 'true',
    },
    /** For the process that decodes payloads for Temporal's UI and CLI. */
    codecServer: { port: env.CODEC_SERVER_PORT, token: env.CODEC_SERVER_TOKEN },
    /** Maximum concurrent model calls of one workspace in one worker process. */
    workspaceConcurrency: env.WORKSPACE_CONCURRENCY,
    bootstrapApiKey: env.BOOTSTRAP_API_KEY,
    /** The first key encrypts; all decrypt. Unset only if `npm start` creates its own. */
    encryptionKeys: env.ENCRYPTION_KEY,
    models: {
      /** By provider name. */
      providers: Object.fromEntries(
        PROVIDERS.map(({ name, settings: { apiKey, baseUrl } }) => [
          name,
          { apiKey: providers[apiKey], baseUrl: providers[baseUrl] },
        ]),
      ),
      /** Whether the server at the `openai-compatible` base URL has OpenAI's batch API. */
      openAiCompatibleBatches: env.OPENAI_COMPATIBLE_BATCHES === 'true',
      pricesFile: env.MODEL_PRICES_FILE,
      /** Time limit of one call to a model. */
      timeoutMs: env.MODEL_TIMEOUT,
    },
    /** How long a stopping process waits for calls and requests in flight. */
    shutdownGraceMs: env.SHUTDOWN_GRACE ?? env.MODEL_TIMEOUT,
    /** How often workers look for unfinished work. */
    reconcileEveryMs: env.RECONCILE_EVERY,
    /** Whether workers keep an index of texts for searches. */
    searchIndex: env.SEARCH_INDEX === 'true',
    /** Per key; 0: no limit. */
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    /** Per workspace, for all its keys; 0 for no limit. */
    workspaceRateLimitPerMinute: env.WORKSPACE_RATE_LIMIT_PER_MINUTE ?? 10 * env.RATE_LIMIT_PER_MINUTE,
    /** Per API process; 0 for no limit. */
    connections: { total: env.MAX_CONNECTIONS, perAddress: env.MAX_CONNECTIONS_PER_ADDRESS },
    /** Origins whose pages can call the API. */
    corsOrigins: env.CORS_ORIGINS,
    /** Maximum number of each resource per workspace; 0 for no limit. */
    quotas: limits.quotas,
    /** How long ended records are kept, in ms; undefined to keep them. */
    retention: limits.retention,
    webhooks: {
      /** The waits before each retry; the failure of the last one disables the webhook. */
      retryWaitsMs: env.WEBHOOK_RETRY_WAITS,
      /** Time limit of one attempt, from DNS lookup to the last byte of the response. */
      timeoutMs: env.WEBHOOK_TIMEOUT,
      /** Maximum concurrent attempts of one workspace to one host in one process. */
      hostConcurrency: env.WEBHOOK_HOST_CONCURRENCY,
      /** If unset, it depends on how the service was started. */
      allowPrivate: env.WEBHOOK_ALLOW_PRIVATE,
    },
    /** If unset, no e-mail is sent. */
    mail: SMTP_URL === undefined || MAIL_FROM === undefined ? undefined : { smtpUrl: SMTP_URL, from: MAIL_FROM },
    signIn: {
      /** The public address of the service, without a trailing slash. Required with identity providers. */
      publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
      /** If empty, people sign in only with keys. */
      identityProviders,
      /** The token with which the first identity provider provisions users (SCIM); undefined if disabled. */
      scimToken: env.SCIM_TOKEN,
      /** Whether people can sign in at the console with keys. */
      byKey: env.CONSOLE_KEY_SIGN_IN === 'true',
    },
    /** The language of the console build to serve. */
    consoleLocale: env.CONSOLE_LOCALE,
    /** Whether to trust `X-Forwarded-For`. */
    trustProxy: env.TRUST_PROXY === 'true',
    telemetry: telemetryOf(env),
    logLevel: env.LOG_LEVEL,
  };
}

/**
 * Parses the environment. White space around a value is trimmed because secret files end with a line break. An empty variable counts as
 * unset.
 * @throws SettingsError naming every invalid setting
 */
export function parseSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(
    Object.entries(environment)
      .map(([name, value]) => [name, value?.trim()] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = Environment.safeParse(given);
  const limits = LimitEnvironment.safeParse(given);
  const providers = ProviderEnvironment.safeParse(given);
  if (!parsed.success || !limits.success || !providers.success) {
    const issues = [parsed, limits, providers].flatMap(({ error }) => error?.issues ?? []);
    throw new SettingsError(issues.map(({ path: name, message }) => `${name.join('.')}: ${message}`));
  }
  const identity = readProviders(given);
  const problems = [
    ...problemsOf(parsed.data),
    ...identity.problems,
    ...(identity.problems.length > 0 ? [] : problemsOfSignIn(parsed.data, identity.providers)),
  ];
  if (problems.length > 0) throw new SettingsError(problems);
  return toSettings(parsed.data, limitsOf(limits.data), providers.data, identity.providers);
}

/**
 * Reads the environment and, with lower precedence, the `.env` file in the working directory. The only place that reads
 * `process.env` for settings.
 * @throws SettingsError naming every invalid setting
 */
export function loadSettings(): Settings {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return parseSettings(process.env);
}

/**
 * For processes without their own PostgreSQL or Temporal.
 * @throws SettingsError naming every missing setting
 */
export function requireServers(settings: Settings): {
  databaseUrl: string;
  temporalAddress: string;
  encryptionKeys: Buffer[];
  allowPrivate: AllowPrivate;
} {
  const { databaseUrl, encryptionKeys } = settings;
  const temporalAddress = settings.temporal.address;
  const problems: string[] = [];
  if (databaseUrl === undefined) problems.push('DATABASE_URL: set it to the PostgreSQL database to use');
  if (temporalAddress === undefined) problems.push('TEMPORAL_ADDRESS: set it to host:port of the Temporal server');
  if (encryptionKeys === undefined)
    problems.push('ENCRYPTION_KEY: set it to 32 bytes in base64 (make one with `openssl rand -base64 32`)');
  if (databaseUrl === undefined || temporalAddress === undefined || encryptionKeys === undefined)
    throw new SettingsError(problems);
  return { databaseUrl, temporalAddress, encryptionKeys, allowPrivate: settings.webhooks.allowPrivate ?? 'false' };
}
