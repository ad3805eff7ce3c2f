import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import type { AllowPrivate } from './outbound/target.ts';

/** The settings are wrong: `problems` names each, so that all can be mended at once. */
export class SettingsError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

const Port = z.coerce.number('must be a port number').int().min(0).max(65_535);
const Count = z.coerce.number('must be a whole number').int().min(0);

/** `250ms`, `10s`, `2m`, `6h` to milliseconds. */
const Duration = z.string().transform((text, context) => {
  const value = /^\d+(\.\d+)?\s*(ms|s|m|h|d)$/.test(text.trim()) ? ms(text.trim() as StringValue) : Number.NaN;
  if (!(value > 0 && value <= 2 ** 31 - 1)) {
    context.addIssue({ code: 'custom', message: 'must be a time with its unit: 500ms, 10s, 2m or 6h' });
    return z.NEVER;
  }
  return value;
});

const UNITS = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

/** `10GiB` to bytes. */
const Bytes = z
  .string()
  .regex(/^(0|\d{1,6}\s*(B|KiB|MiB|GiB|TiB))$/, 'must be a size with its unit: 500MiB or 10GiB; or 0')
  .transform((text) => {
    const [unit = 'B'] = Object.keys(UNITS)
      .filter((name) => text.endsWith(name))
      .slice(-1);
    return Number.parseInt(text, 10) * (unit in UNITS ? UNITS[unit as keyof typeof UNITS] : 1);
  });

/** Longer than a timer could be: `30d`. */
const Retention = z.string().transform((text, context) => {
  const value = /^\d+(\.\d+)?\s*(m|h|d)$/.test(text.trim()) ? ms(text.trim() as StringValue) : Number.NaN;
  if (!(value > 0)) {
    context.addIssue({ code: 'custom', message: 'must be a time with its unit: 12h or 30d' });
    return z.NEVER;
  }
  return value;
});

/** What an `Idempotency-Key` has created is there as long as the key is remembered. */
const AT_LEAST_A_DAY = [(time: number) => time >= ms('1d'), 'must be at least 1d'] as const;

/** `1m,5m,30m` to milliseconds. */
const Waits = z.string().transform((text, context) => {
  const waits = text.split(',').map((wait) => Duration.safeParse(wait));
  if (waits.some(({ success }) => !success)) {
    context.addIssue({
      code: 'custom',
      message: 'must be times with their units, separated by commas: 1m,5m,30m,2h,6h',
    });
    return z.NEVER;
  }
  return waits.map(({ data }) => data ?? 0);
});

const EncryptionKeys = z.string().transform((text, context) => {
  const keys = text.split(',').map((key) => Buffer.from(key.trim(), 'base64'));
  if (keys.some((key) => key.length !== 32)) {
    context.addIssue({
      code: 'custom',
      message: 'must be 32 bytes in base64 (make one with `openssl rand -base64 32`); separate several by commas',
    });
    return z.NEVER;
  }
  return keys;
});

const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

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
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_TLS_CERT: z.string().optional(),
  TEMPORAL_TLS_KEY: z.string().optional(),
  TEMPORAL_UI_PORT: Port.default(8233),
  BOOTSTRAP_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{16,255}$/, 'must be 16 to 255 visible ASCII characters')
    .optional(),
  ENCRYPTION_KEY: EncryptionKeys.optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: HttpUrl.optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_BASE_URL: HttpUrl.optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: z.string().optional(),
  GOOGLE_GENERATIVE_AI_BASE_URL: HttpUrl.optional(),
  OPENAI_COMPATIBLE_BASE_URL: HttpUrl.optional(),
  OPENAI_COMPATIBLE_API_KEY: z.string().optional(),
  WORKSPACE_CONCURRENCY: z.coerce.number().int().min(1).max(10_000).default(100),
  MODEL_PRICES_FILE: z.string().optional(),
  MODEL_TIMEOUT: Duration.default(120_000),
  SHUTDOWN_GRACE: Duration.optional(),
  RATE_LIMIT_PER_MINUTE: Count.default(1200),
  MAX_CONNECTIONS: Count.default(10_000),
  MAX_CONNECTIONS_PER_ADDRESS: Count.default(1_000),
  QUOTA_API_KEYS: Count.default(100),
  QUOTA_PROMPTS: Count.default(10_000),
  QUOTA_DATASETS: Count.default(1_000),
  QUOTA_DATASET_BYTES: Bytes.default(10 * 1024 ** 3),
  QUOTA_SCHEDULES: Count.default(100),
  QUOTA_WEBHOOKS: Count.default(100),
  QUOTA_EVALUATIONS: Count.default(100),
  QUOTA_DELIVERIES: Count.default(200_000),
  QUOTA_EXECUTIONS: Count.default(10_000),
  QUOTA_UPLOADS: Count.default(10),
  EXECUTION_RETENTION: Retention.refine(...AT_LEAST_A_DAY).optional(),
  EVALUATION_RETENTION: Retention.refine(...AT_LEAST_A_DAY).optional(),
  EVENT_RETENTION: Retention.default(30 * 24 * 60 * 60_000),
  WEBHOOK_RETRY_WAITS: Waits.default([60_000, 300_000, 1_800_000, 7_200_000, 21_600_000]),
  WEBHOOK_TIMEOUT: Duration.refine((time) => time <= 300_000, 'must be at most 5m').default(10_000),
  WEBHOOK_HOST_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(20),
  WEBHOOK_ALLOW_PRIVATE: z.enum(['false', 'loopback', 'true'], 'must be false, loopback or true').optional(),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must look like smtp://user:password@host:587 or smtps://host:465' })
    .optional(),
  MAIL_FROM: z.string().optional(),
  TRUST_PROXY: z.enum(['true', 'false'], 'must be true or false').default('false'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'must be trace, debug, info, warn or error')
    .default('info'),
});

/** Every setting of every process. Times are in milliseconds. */
export interface Settings {
  host: string;
  port: number;
  /** 0: no metrics server. */
  metricsPort: number;
  dataDir: string;
  /** Unset: `npm start` runs its own PostgreSQL. */
  databaseUrl: string | undefined;
  databasePoolSize: number;
  temporal: {
    /** Unset: `npm start` runs its own Temporal. */
    address: string | undefined;
    namespace: string;
    /** Keeps installations that share a namespace apart. */
    taskQueuePrefix: string | undefined;
    apiKey: string | undefined;
    /** Paths of PEM files. */
    tlsCert: string | undefined;
    tlsKey: string | undefined;
    uiPort: number;
  };
  /** Model calls of one workspace under way in one worker process. */
  workspaceConcurrency: number;
  bootstrapApiKey: string | undefined;
  /** The first encrypts; all decrypt. Unset only where `npm start` makes its own. */
  encryptionKeys: Buffer[] | undefined;
  models: {
    openai: { apiKey: string | undefined; baseUrl: string | undefined };
    anthropic: { apiKey: string | undefined; baseUrl: string | undefined };
    google: { apiKey: string | undefined; baseUrl: string | undefined };
    openaiCompatible: { apiKey: string | undefined; baseUrl: string | undefined };
    pricesFile: string | undefined;
    /** One call to a model. */
    timeoutMs: number;
  };
  /** How long calls and requests under way are waited for when a process is asked to stop. */
  shutdownGraceMs: number;
  /** Per key; 0: no limit. */
  rateLimitPerMinute: number;
  /** Of one API process; 0: any number. */
  connections: { total: number; perAddress: number };
  /** How many of each a workspace can have; 0: any number. */
  quotas: {
    apiKeys: number;
    prompts: number;
    datasets: number;
    datasetBytes: number;
    schedules: number;
    webhooks: number;
    evaluations: number;
    deliveries: number;
    executions: number;
    uploads: number;
  };
  retention: {
    /** How long events, their deliveries and notifications are kept. */
    retentionMs: number;
    /** How long executions are kept after their end; undefined: for ever. */
    executionRetentionMs: number | undefined;
    /** The same of evaluations with their results. */
    evaluationRetentionMs: number | undefined;
  };
  webhooks: {
    /** Before each retry; the failure of the last one disables the webhook. */
    retryWaitsMs: number[];
    /** One attempt, from looking up the host to the last byte of the answer. */
    timeoutMs: number;
    /** Attempts of one workspace under way to one host in one process. */
    hostConcurrency: number;
    /** Unset: what is usual for the way the service was started. */
    allowPrivate: AllowPrivate | undefined;
  };
  /** Unset: no e-mail. */
  mail: { smtpUrl: string; from: string } | undefined;
  /** Whether `X-Forwarded-For` is believed. */
  trustProxy: boolean;
  logLevel: string;
}

/**
 * Parses the environment. An empty variable counts as unset.
 * @throws SettingsError naming every wrong setting
 */
export function parseSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = Environment.safeParse(given);
  if (!parsed.success)
    throw new SettingsError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  const env = parsed.data;
  const problems: string[] = [];
  if ((env.TEMPORAL_TLS_CERT === undefined) !== (env.TEMPORAL_TLS_KEY === undefined))
    problems.push('TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY belong together: set both or neither');
  const { SMTP_URL: smtpUrl, MAIL_FROM: mailFrom } = env;
  if ((smtpUrl === undefined) !== (mailFrom === undefined))
    problems.push('SMTP_URL and MAIL_FROM belong together: set both or neither');
  for (const name of ['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY', 'MODEL_PRICES_FILE'] as const) {
    const file = env[name];
    if (file !== undefined && !existsSync(file)) problems.push(`${name}: there is no file ${file}`);
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return {
    host: env.HOST,
    port: env.PORT,
    metricsPort: env.METRICS_PORT,
    dataDir: path.resolve(env.DATA_DIR),
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    temporal: {
      address: env.TEMPORAL_ADDRESS,
      namespace: env.TEMPORAL_NAMESPACE,
      taskQueuePrefix: env.TEMPORAL_TASK_QUEUE_PREFIX,
      apiKey: env.TEMPORAL_API_KEY,
      tlsCert: env.TEMPORAL_TLS_CERT,
      tlsKey: env.TEMPORAL_TLS_KEY,
      uiPort: env.TEMPORAL_UI_PORT,
    },
    workspaceConcurrency: env.WORKSPACE_CONCURRENCY,
    bootstrapApiKey: env.BOOTSTRAP_API_KEY,
    encryptionKeys: env.ENCRYPTION_KEY,
    models: {
      openai: { apiKey: env.OPENAI_API_KEY, baseUrl: env.OPENAI_BASE_URL },
      anthropic: { apiKey: env.ANTHROPIC_API_KEY, baseUrl: env.ANTHROPIC_BASE_URL },
      google: { apiKey: env.GOOGLE_GENERATIVE_AI_API_KEY, baseUrl: env.GOOGLE_GENERATIVE_AI_BASE_URL },
      openaiCompatible: { apiKey: env.OPENAI_COMPATIBLE_API_KEY, baseUrl: env.OPENAI_COMPATIBLE_BASE_URL },
      pricesFile: env.MODEL_PRICES_FILE,
      timeoutMs: env.MODEL_TIMEOUT,
    },
    shutdownGraceMs: env.SHUTDOWN_GRACE ?? env.MODEL_TIMEOUT,
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    connections: { total: env.MAX_CONNECTIONS, perAddress: env.MAX_CONNECTIONS_PER_ADDRESS },
    quotas: {
      apiKeys: env.QUOTA_API_KEYS,
      prompts: env.QUOTA_PROMPTS,
      datasets: env.QUOTA_DATASETS,
      datasetBytes: env.QUOTA_DATASET_BYTES,
      schedules: env.QUOTA_SCHEDULES,
      webhooks: env.QUOTA_WEBHOOKS,
      evaluations: env.QUOTA_EVALUATIONS,
      deliveries: env.QUOTA_DELIVERIES,
      executions: env.QUOTA_EXECUTIONS,
      uploads: env.QUOTA_UPLOADS,
    },
    retention: {
      retentionMs: env.EVENT_RETENTION,
      executionRetentionMs: env.EXECUTION_RETENTION,
      evaluationRetentionMs: env.EVALUATION_RETENTION,
    },
    webhooks: {
      retryWaitsMs: env.WEBHOOK_RETRY_WAITS,
      timeoutMs: env.WEBHOOK_TIMEOUT,
      hostConcurrency: env.WEBHOOK_HOST_CONCURRENCY,
      allowPrivate: env.WEBHOOK_ALLOW_PRIVATE,
    },
    mail: smtpUrl === undefined || mailFrom === undefined ? undefined : { smtpUrl, from: mailFrom },
    trustProxy: env.TRUST_PROXY === 'true',
    logLevel: env.LOG_LEVEL,
  };
}

/**
 * Reads the environment and, under it, the `.env` file of the working folder.
 * The only place that reads `process.env` for settings.
 * @throws SettingsError naming every wrong setting
 */
export function loadSettings(): Settings {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return parseSettings(process.env);
}

/**
 * For the processes that bring no PostgreSQL or Temporal of their own.
 * @throws SettingsError naming every setting that is missing
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
