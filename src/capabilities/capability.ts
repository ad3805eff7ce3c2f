import type { Query } from '../db/database.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CapabilityName } from '../domain/capabilities.ts';
import type { Idempotency } from '../http/idempotency.ts';
import type { Route } from '../http/route.ts';
import type { Expiry, Retention } from '../jobs/clean-up.ts';
import type { Removable } from '../jobs/remove-workspaces.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { ToolSpec } from '../mcp/tools/tool.ts';
import type { Authenticator } from '../services/access/authenticate.ts';
import type { Uploads } from '../services/datasets/upload-examples.ts';
import type { OnEvaluationEnd } from '../services/evaluations/evaluation-metrics.ts';
import type { ExecutionWaiter } from '../services/executions/execution-waiter.ts';
import type { GroupGrants } from '../services/members/sync-members.ts';
import type { OnUsed } from '../services/operations/spend-metrics.ts';
import type { KnownVersions } from '../services/prompts/known-versions.ts';
import type { ChangesHub } from '../services/streams/changes-hub.ts';
import type { ProgressHub } from '../services/streams/progress-hub.ts';
import type { StreamHub } from '../services/streams/stream-hub.ts';
import type { Partitions } from '../services/traces/partitions.ts';
import type { DeliveryWaiter } from '../services/webhooks/deliveries/delivery-waiter.ts';
import type { DeliveryStarter } from '../services/webhooks/deliveries/start-delivery.ts';
import type { Quotas } from '../services/workspaces/quotas.ts';

/** Dependencies of routes from the process. */
export type ApiDependencies = Omit<
  Dependencies,
  'connection' | 'registry' | 'sdkMetricsAddress' | 'onExecutionEnd' | 'ownServers' | 'turns' | 'close'
> &
  Partial<Pick<Dependencies, 'onExecutionEnd' | 'ownServers'>>;

/** Everything that the API process provides to routes. */
export interface ApiParts extends ApiDependencies {
  /** Whether workers run in this process, on the same connection. */
  eager: boolean;
  quotas: Quotas;
  /** Shared by everything that adds to datasets. */
  uploads: Uploads;
  /** Days of steps of traces. */
  partitions: Partitions;
  idempotency: Idempotency;
  authenticator: Authenticator;
  waiter: ExecutionWaiter;
  deliveryWaiter: DeliveryWaiter;
  streams: StreamHub;
  /** Streams of running evaluations and improvements. */
  progress: { evaluations: ProgressHub; improvements: ProgressHub };
  changes: ChangesHub;
  /** Cached versions of prompts that were run before. */
  known: KnownVersions;
  ofGroup: GroupGrants;
  /** Rejects changes if the audit log is full, for requests before sign-in. */
  requireRoom: (query: Query, isAdmin: boolean) => Promise<void>;
}

/** Everything that a worker process provides to recurring tasks. */
export interface WorkerParts
  extends Pick<Dependencies, 'db' | 'cipher' | 'identityProviders' | 'models' | 'onExecutionEnd' | 'log'> {
  starter: DeliveryStarter;
  mailer: Mailer | undefined;
  onEvaluationEnd: OnEvaluationEnd;
  onUsed: OnUsed;
  /** Interval of the reconciliation. */
  reconcileEveryMs: number;
  /** Whether texts are indexed for searches. */
  searchIndex: boolean;
}

/** A recurring task of every worker. */
export interface Job {
  name: string;
  everyMs: number;
  /** Safe to run in several processes concurrently. Aborting `stopping` ends it after the current step. */
  run: (stopping: AbortSignal) => Promise<void>;
  /** Whether it also runs when the process starts, rather than only after an interval. */
  atOnce?: boolean;
}

/** The behavior of a capability. Its other half, in `domain/capabilities`, defines it. `src/capabilities.ts` lists all. */
export interface Capability extends Removable {
  name: CapabilityName;
  routes?: (parts: ApiParts) => Route[];
  /** Tools of the MCP server. */
  tools?: readonly ToolSpec[];
  jobs?: (parts: WorkerParts) => Job[];
  /** The expired rows, given the retention times. They are deleted every {@link CLEAN_UP_EVERY_MS}. */
  expired?: (retention: Retention) => Expiry[];
}

/** Interval for summing up pending rows. */
export const SUM_UP_EVERY_MS = 15_000;
/** Interval for deleting expired rows. */
export const CLEAN_UP_EVERY_MS = 10 * 60_000;

/** A task that starts by searching for work left behind by other processes. */
export const reconciling = (
  parts: WorkerParts,
  name: string,
  reconcile: (parts: WorkerParts) => Promise<void>,
): Job => ({ name: `reconcile ${name}`, everyMs: parts.reconcileEveryMs, run: () => reconcile(parts), atOnce: true });
