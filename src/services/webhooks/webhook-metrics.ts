import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from '../../db/database.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../domain/delivery-states.ts';

/** What is counted of webhooks, for Prometheus. */
export interface WebhookMetrics {
  /** One request to a webhook. */
  attempted(outcome: 'succeeded' | 'failed', durationMs: number): void;
  /** One delivery, by how it ended. */
  ended(outcome: 'delivered' | 'failed' | 'abandoned'): void;
  /** One webhook was disabled for its failures. */
  disabled(): void;
}

/** Prometheus gives a scrape 10 s by default; the other figures should not wait for these. */
const READ_TIMEOUT_MS = 2_000;

/** What the gauges show. */
interface Backlog {
  queued: number;
  waiting: number;
  disabled: number;
  oldest_seconds: number;
}

const UNKNOWN: Backlog = { queued: Number.NaN, waiting: Number.NaN, disabled: Number.NaN, oldest_seconds: Number.NaN };

// Of several events the one with the smallest id is the oldest: ids begin with the time at which they were made. An event that a
// caller had sent again was old before, so that it says nothing about how late deliveries are.
const READ = {
  text: `with unfinished as (
           select status, count(*)::int as count, min(event_id::text) filter (where trigger = 'event') as oldest
           from deliveries where ${deliveryStates.in(UNFINISHED_DELIVERY)} group by status
         ), oldest as (
           select created_at from events where id in (select oldest::uuid from unfinished)
           union all
           (select min(created_at) from events where dispatched_at is null)
         )
         select
           coalesce((select count from unfinished where status = 'queued'), 0) as queued,
           coalesce((select count from unfinished where status = 'waiting'), 0) as waiting,
           (select count(*)::int from webhooks where status = 'disabled') as disabled,
           coalesce((select extract(epoch from greatest(now() - min(created_at), interval '0')) from oldest), 0)::float8
             as oldest_seconds`,
};

/** Reads the backlog once for all gauges of a scrape, and never more than once at a time; unknown where that takes too long. */
function createBacklogReader({ system }: Database): () => Promise<Backlog> {
  let reading: Promise<Backlog> | undefined;
  const read = async () => {
    const [row] = await system.transaction(async (query) => {
      await query({ text: `set local statement_timeout = ${READ_TIMEOUT_MS}` });
      return query<Backlog & Record<string, unknown>>(READ);
    });
    return row ?? UNKNOWN;
  };
  return async () => {
    reading ??= read()
      .catch(() => UNKNOWN)
      .finally(() => {
        reading = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Backlog>((resolve) => {
      timer = setTimeout(resolve, READ_TIMEOUT_MS, UNKNOWN);
    });
    try {
      return await Promise.race([reading, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

function addGauges(registry: Registry, db: Database): void {
  const backlog = createBacklogReader(db);
  const registers = [registry];
  new Gauge({
    name: 'pms_webhook_deliveries_waiting',
    help: 'Deliveries that have not ended',
    labelNames: ['status'],
    registers,
    async collect() {
      const now = await backlog();
      for (const status of UNFINISHED_DELIVERY) this.set({ status }, now[status]);
    },
  });
  new Gauge({
    name: 'pms_webhooks_disabled',
    help: 'Webhooks that are disabled',
    registers,
    async collect() {
      this.set((await backlog()).disabled);
    },
  });
  new Gauge({
    name: 'pms_oldest_undelivered_event_age_seconds',
    help: 'Age of the oldest event that has a delivery under way or none made yet',
    registers,
    async collect() {
      this.set((await backlog()).oldest_seconds);
    },
  });
}

const NAMES = [
  'pms_webhook_attempts_total',
  'pms_webhook_attempt_seconds',
  'pms_webhook_deliveries_total',
  'pms_webhooks_disabled_total',
  'pms_webhook_deliveries_waiting',
  'pms_webhooks_disabled',
  'pms_oldest_undelivered_event_age_seconds',
];

/**
 * Adds the figures of webhooks to a registry; those that are there already are replaced. The gauges are read from the database
 * when they are asked for, and are `NaN` where it does not answer within 2 s.
 */
export function createWebhookMetrics(registry: Registry, db: Database): WebhookMetrics {
  for (const name of NAMES) registry.removeSingleMetric(name);
  const registers = [registry];
  const attempts = new Counter({
    name: 'pms_webhook_attempts_total',
    help: 'Requests to webhooks',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'pms_webhook_attempt_seconds',
    help: 'Duration of requests to webhooks',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const deliveries = new Counter({
    name: 'pms_webhook_deliveries_total',
    help: 'Deliveries that have ended',
    labelNames: ['outcome'],
    registers,
  });
  const disabled = new Counter({
    name: 'pms_webhooks_disabled_total',
    help: 'Webhooks that were disabled for their failures',
    registers,
  });
  // From 0 on, so that the first of each is seen as an increase.
  for (const outcome of ['succeeded', 'failed']) attempts.inc({ outcome }, 0);
  for (const outcome of ['delivered', 'failed', 'abandoned']) deliveries.inc({ outcome }, 0);
  addGauges(registry, db);
  return {
    attempted(outcome, durationMs) {
      attempts.inc({ outcome });
      seconds.observe(durationMs / 1_000);
    },
    ended: (outcome) => deliveries.inc({ outcome }),
    disabled: () => disabled.inc(),
  };
}
