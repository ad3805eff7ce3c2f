import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Middleware } from 'koa';
import { Gauge } from 'prom-client';
import type { ApiDependencies, ApiParts } from '../capabilities/capability.ts';
import { CAPABILITIES } from '../capabilities.ts';
import { requireServers, type Settings } from '../config.ts';
import type { Query } from '../db/database.ts';
import { connectDependencies, type Dependencies, readinessChecks } from '../dependencies.ts';
import { createApp } from '../http/app.ts';
import { consoleRoutes } from '../http/console.ts';
import { consoleFolder } from '../http/console-folder.ts';
import { guideRoutes } from '../http/guides/routes.ts';
import { listen } from '../http/http-server.ts';
import { createIdempotency } from '../http/idempotency.ts';
import { createHttpMetrics } from '../http/middleware/request-log.ts';
import { openApiDocument } from '../http/openapi.ts';
import { docsRoutes, healthRoutes } from '../http/public-routes.ts';
import type { Route } from '../http/route.ts';
import type { AppState } from '../http/state.ts';
import { createFairSemaphore } from '../lib/fair-semaphore.ts';
import { runProcess } from '../lifecycle.ts';
import { mcpEndpoint } from '../mcp/endpoint.ts';
import { serveMetrics } from '../metrics.ts';
import { type Authenticator, createAuthenticator } from '../services/access/authenticate.ts';
import { createProcessRateLimiter, createRateLimiter, type RateLimiter } from '../services/access/rate-limiter.ts';
import { createUploads } from '../services/datasets/upload-examples.ts';
import { createExecutionWaiter } from '../services/executions/execution-waiter.ts';
import { createIdempotencyKeys } from '../services/idempotency/idempotency-keys.ts';
import type { GroupGrants } from '../services/members/sync-members.ts';
import { createKnownVersions } from '../services/prompts/known-versions.ts';
import { createChangesHub } from '../services/streams/changes-hub.ts';
import type { Hub } from '../services/streams/open-readers.ts';
import { createProgressHub } from '../services/streams/progress-hub.ts';
import { createStreamHub } from '../services/streams/stream-hub.ts';
import { createPartitions } from '../services/traces/partitions.ts';
import { createDeliveryWaiter } from '../services/webhooks/deliveries/delivery-waiter.ts';
import { ensureFirstKey } from '../services/workspaces/bootstrap.ts';
import { createQuotas, requireAuditRoom } from '../services/workspaces/quotas.ts';
import { createAccessTokens, protectedResourceRoutes, wwwAuthenticate } from '../sign-in/access-tokens.ts';
import { grantsOfValue } from '../sign-in/provider-settings.ts';
import { signInRoutes } from '../sign-in/routes.ts';
import { traceRequests } from '../telemetry/requests.ts';
import { isTelemetryOn } from '../telemetry/settings.ts';
import { keepSearchAttributes } from '../temporal/search-attributes.ts';
import { projectVersion } from '../version.ts';
import { evaluationStream } from './evaluations/progress-format.ts';
import { changesStream } from './events/changes-format.ts';
import { improvementStream } from './improvements/progress-format.ts';
import { scimRoutes } from './scim/routes.ts';

/** Failed authentications per address and minute before the response is 429. */
const MAX_FAILED_AUTHENTICATIONS = 60;
/** Requests with feedback tokens per minute, per address and per token, before the response is 429. */
const MAX_FEEDBACK_PER_ADDRESS = 120;
const MAX_FEEDBACK_PER_TOKEN = 20;
/** Requests without a key per address and minute: enough for many programs that poll for a key from one address. */
const MAX_ANYONE_PER_ADDRESS = 1_200;
/** Requests for public pages and files per address, minute and process: a page of the console needs about 40. */
const MAX_PUBLIC_PER_ADDRESS = 3_000;
/** Sign-ins through an identity provider that an address can start or finish per minute: a company can share one address. */
const MAX_SIGN_INS = 240;
/** How long requests have to respond with the current state when the process stops. */
const LAST_RESPONSES_MS = 1_000;

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** The guides that the MCP server serves. */
const DOCS = path.join(PROJECT, 'docs');

function workflowsUrl(uiUrl: string | undefined, namespace: string): string | null {
  if (uiUrl === undefined) return null;
  return `${uiUrl.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}

const roomInAuditLog =
  ({ quotas }: Settings) =>
  (query: Query, isAdmin: boolean): Promise<void> =>
    requireAuditRoom(query, quotas.auditBytes, isAdmin);

/** The roles that provisioned groups grant: the first identity provider does the provisioning. */
function groupGrants({ signIn }: Settings): GroupGrants {
  const [provider] = signIn.identityProviders;
  if (provider === undefined) return () => [];
  const { allowed_groups: allowed } = provider;
  return (groups) => {
    const isAllowed = allowed.length === 0 || groups.some((group) => allowed.includes(group));
    return isAllowed ? groups.flatMap((group) => grantsOfValue(provider, group)) : [];
  };
}

/** Provisioning by the first identity provider, if it is enabled. */
function provisioningRoutes(
  { db, settings }: Dependencies,
  failureLimiter: RateLimiter | undefined,
): Middleware<AppState>[] {
  const { identityProviders, scimToken: token, publicUrl } = settings.signIn;
  const [provider] = identityProviders;
  if (token === undefined || publicUrl === undefined || provider === undefined) return [];
  return [
    scimRoutes({ db, issuer: provider.issuer, ofGroup: groupGrants(settings), token, publicUrl, failureLimiter }),
  ];
}

/** Every operation of the API. */
export function allRoutes(
  dependencies: ApiDependencies,
  { eager }: { eager: boolean },
): { routes: Route[]; authenticator: Authenticator; streams: Hub[] } {
  const { db, listener, cipher, identityProviders, settings, log } = dependencies;
  const { publicUrl } = settings.signIn;
  const accessTokens = publicUrl === undefined ? undefined : createAccessTokens(db, identityProviders, publicUrl);
  const authenticator = createAuthenticator(db, listener, log, accessTokens);
  const streams = createStreamHub({ db, listener, log });
  const progress = {
    evaluations: createProgressHub({ db, format: evaluationStream, log }),
    improvements: createProgressHub({ db, format: improvementStream, log }),
  };
  const changes = createChangesHub({ db, format: changesStream, log });
  const quotas = createQuotas(settings.quotas);
  const parts: ApiParts = {
    ...dependencies,
    eager,
    quotas,
    uploads: createUploads(quotas),
    partitions: createPartitions(db.system),
    idempotency: createIdempotency(createIdempotencyKeys(cipher)),
    authenticator,
    waiter: createExecutionWaiter(listener),
    deliveryWaiter: createDeliveryWaiter(listener),
    streams,
    progress,
    changes,
    known: createKnownVersions(),
    ofGroup: groupGrants(settings),
    requireRoom: roomInAuditLog(settings),
  };
  return {
    authenticator,
    streams: [streams, progress.evaluations, progress.improvements, changes],
    routes: CAPABILITIES.flatMap((each) => each.routes?.(parts) ?? []),
  };
}

/** Routes outside `/v1` for browsers and agents if people sign in through identity providers. */
function identityRoutes({ db, cipher, identityProviders: providers, settings, log }: Dependencies): Middleware[] {
  const { publicUrl } = settings.signIn;
  if (publicUrl === undefined || providers.all.length === 0) return [];
  const limiter = settings.rateLimitPerMinute === 0 ? undefined : createRateLimiter(db.system, 'sign-in', MAX_SIGN_INS);
  return [
    signInRoutes({ db, cipher, providers, publicUrl, limiter, requireRoom: roomInAuditLog(settings), log }),
    protectedResourceRoutes(providers, publicUrl),
  ];
}

/** Builds the challenge for agents without valid credentials: where to get access tokens, if anywhere. */
const challengeOf =
  ({ signIn: { publicUrl, identityProviders } }: Settings) =>
  (error?: string): string =>
    publicUrl === undefined || identityProviders.length === 0 ? 'Bearer' : wwwAuthenticate(publicUrl, error);

/** A running API. */
export interface RunningApi {
  port: number;
  /**
   * Accepts no new requests, ends streams, and waits for requests in flight. After `graceMs`, or once `over` has settled because
   * nothing they wait for can happen anymore, they get the current state as their response.
   */
  close(graceMs: number, over?: Promise<unknown>): Promise<void>;
}

/**
 * Starts the API.
 * @param eager whether workers run in this process and share the connection
 * @param temporalUiUrl the address of Temporal's UI for people. Default: the setting
 * @throws PortError
 */
export async function startApi(
  dependencies: Dependencies,
  {
    eager,
    temporalUiUrl = dependencies.settings.temporal.uiUrl,
  }: { eager: boolean; temporalUiUrl?: string | undefined },
): Promise<RunningApi> {
  const { db, startLimiter, turns, settings, registry, log } = dependencies;
  const closing = new AbortController();
  const { routes, authenticator, streams } = allRoutes(dependencies, { eager });
  new Gauge({
    name: 'pms_streams_open',
    help: 'Open execution and evaluation streams',
    registers: [registry],
    collect() {
      this.set(streams.reduce((sum, { openCount }) => sum + openCount, 0));
    },
  });
  new Gauge({
    name: 'pms_executions_waiting_to_start',
    help: 'Executions queued to start behind others of their workspace',
    registers: [registry],
    collect() {
      this.set(startLimiter.waiting());
    },
  });
  const limit = settings.rateLimitPerMinute;
  const workspaceLimit = settings.workspaceRateLimitPerMinute;
  const connections = settings.connections.total;
  const failureLimiter = limit === 0 ? undefined : createRateLimiter(db.system, 'failed', MAX_FAILED_AUTHENTICATIONS);
  const app = createApp({
    db,
    routes,
    authenticator,
    rateLimiters:
      limit === 0
        ? undefined
        : {
            key: createRateLimiter(db.system, 'key', limit),
            workspace: workspaceLimit === 0 ? undefined : createRateLimiter(db.system, 'workspace', workspaceLimit),
          },
    failureLimiter,
    tokenLimiters:
      limit === 0
        ? undefined
        : {
            address: createRateLimiter(db.system, 'feedback-from', MAX_FEEDBACK_PER_ADDRESS),
            token: createRateLimiter(db.system, 'feedback-with', MAX_FEEDBACK_PER_TOKEN),
          },
    anyoneLimiter: limit === 0 ? undefined : createRateLimiter(db.system, 'anyone-from', MAX_ANYONE_PER_ADDRESS),
    publicLimiter: limit === 0 ? undefined : createProcessRateLimiter(MAX_PUBLIC_PER_ADDRESS),
    unlimitedRoutes: [...provisioningRoutes(dependencies, failureLimiter), healthRoutes(readinessChecks(dependencies))],
    publicRoutes: [
      guideRoutes(PROJECT),
      docsRoutes(routes, (some) => openApiDocument(some, projectVersion())),
      ...identityRoutes(dependencies),
      consoleRoutes(consoleFolder(settings.consoleLocale), {
        version: projectVersion(),
        temporal_workflows_url: workflowsUrl(temporalUiUrl, settings.temporal.namespace),
        sign_in: {
          providers: settings.signIn.identityProviders.map(({ id, name }) => ({ id, name })),
          by_key: settings.signIn.byKey,
        },
      }),
    ],
    otherWays: [
      (parts) =>
        mcpEndpoint(parts, {
          version: projectVersion(),
          docs: DOCS,
          tools: CAPABILITIES.flatMap((each) => each.tools ?? []),
          host: settings.host,
          challenge: challengeOf(settings),
        }),
    ],
    metrics: createHttpMetrics(registry),
    trace: isTelemetryOn(settings.telemetry) ? traceRequests() : undefined,
    requireAuditRoom: roomInAuditLog(settings),
    trustProxy: settings.trustProxy,
    corsOrigins: settings.corsOrigins,
    inProgress: connections === 0 ? undefined : createFairSemaphore({ total: connections }),
    turns,
    closing: closing.signal,
    log,
  });
  const server = await listen(app.callback(), {
    host: settings.host,
    port: settings.port,
    setting: 'PORT',
    trustProxy: settings.trustProxy,
    // Behind a proxy all connections share its address, so the proxy limits connections per caller.
    connections: { ...settings.connections, ...(settings.trustProxy && { perAddress: 0 }) },
  });
  dependencies.ownServers.add(server.port);
  return {
    port: server.port,
    async close(graceMs, over) {
      // Their callers reconnect to another process.
      for (const each of streams) each.close();
      const timer = setTimeout(() => closing.abort(), graceMs);
      void over?.finally(() => closing.abort());
      await server.close(graceMs + LAST_RESPONSES_MS);
      clearTimeout(timer);
    },
  };
}

/** Runs the API as its own process: `npm run api`. */
async function main(): Promise<void> {
  await runProcess('api', async (settings, log, parts) => {
    const dependencies = await connectDependencies(settings, requireServers(settings), log);
    parts.add('the connections', () => dependencies.close());
    if (settings.bootstrapApiKey !== undefined) await ensureFirstKey(dependencies.db, settings.bootstrapApiKey);
    let isAtWork = false;
    if (settings.metricsPort !== 0) {
      const metrics = await serveMetrics(dependencies, () => isAtWork);
      parts.add('the metrics', () => metrics.close(1_000));
    }
    // Temporal starts no workflow without them, and this can be the first process to reach a new Temporal server.
    await keepSearchAttributes(dependencies.client, log)();
    const api = await startApi(dependencies, { eager: false });
    parts.add('the API', () => {
      isAtWork = false;
      return api.close(settings.shutdownGraceMs);
    });
    isAtWork = true;
    log.info(`API listening on http://${settings.host}:${api.port}/v1, documentation at /docs`);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void main();
