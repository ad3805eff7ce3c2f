import { sql } from 'kysely';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { type DeliveryStatus, deliveryStates, UNFINISHED_DELIVERY } from '../../domain/webhooks/delivery-states.ts';
import { cachedReading, READ_TIMEOUT_MS } from '../operations/cached-reading.ts';

/** Metrics of webhooks, for Prometheus. */
export interface WebhookMetrics {
  /** Counts one request to a webhook. */
  attempted(outcome: 'succeeded' | 'failed', durationMs: number): void;
  /** Counts one delivery that has ended. */
  ended(outcome: 'delivered' | 'failed' | 'abandoned'): void;
  /** Counts one webhook that was disabled because of its failures. */
  disabled(): void;
}

/**
 * The oldest of several events has the smallest id, because ids start with their creation time. A replayed or redelivered event
 * is old anyway, so it says nothing about how late deliveries are.
 */
const readBacklog = (db: Builder) =>
  db
    .with('unfinished', (cte) =>
      cte
        .selectFrom('deliveries')
        .select((eb) => [
          'status',
          eb.fn.countAll<number>().as('count'),
          sql<string>`min(event_id::text) filter (where trigger = 'event')`.as('oldest'),
        ])
        .where(inStates(deliveryStates, UNFINISHED_DELIVERY))
        .groupBy('status'),
    )
    .with('oldest', (cte) =>
      cte
        .selectFrom('events')
        .select('created_at')
        .where('id', 'in', (eb) => eb.selectFrom('unfinished').select(sql<string>`oldest::uuid`.as('id')))
        .unionAll((eb) =>
          eb
            .selectFrom('events')
            .select((min) => min.fn.min('created_at').as('created_at'))
            .where('dispatched_at', 'is', null),
        ),
    )
    .selectNoFrom((eb) => {
      const count = (status: DeliveryStatus) =>
        eb.fn.coalesce(
          eb.selectFrom('unfinished').select('unfinished.count').where('unfinished.status', '=', status),
          sql.lit(0),
        );
      return [
        count('queued').as('queued'),
        count('waiting').as('waiting'),
        eb
          .selectFrom('webhooks')
          .select(eb.fn.countAll<number>().as('count'))
          .where('status', '=', 'disabled')
          .$asScalar()
          .$notNull()
          .as('disabled'),
        eb
          .selectFrom('oldest')
          .select(
            sql<number>`coalesce(extract(epoch from greatest(now() - min(created_at), interval '0')), 0)::float8`.as(
              'age',
            ),
          )
          .$asScalar()
          .$notNull()
          .as('oldest_seconds'),
      ];
    });

const UNKNOWN = { queued: Number.NaN, waiting: Number.NaN, disabled: Number.NaN, oldest_seconds: Number.NaN };
type Backlog = typeof UNKNOWN;

/** Reads the backlog for all gauges. */
function createBacklogReader({ system }: Database): () => Promise<Backlog> {
  const read = async (): Promise<Backlog> => {
    const [row] = await system.transaction((query) => query(readBacklog), { statementTimeoutMs: READ_TIMEOUT_MS });
    return row ?? UNKNOWN;
  };
  return cachedReading(read, { unknown: UNKNOWN });
}

function addGauges(registry: Registry, db: Database): void {
  const backlog = createBacklogReader(db);
  const registers = [registry];
  new Gauge({
    name: 'pms_webhook_deliveries_waiting',
    help: 'Unfinished deliveries',
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
    help: 'Age of the oldest event that is not dispatched or has an unfinished delivery',
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
 * Registers the metrics of webhooks, replacing existing ones. The gauges are read from the database at scrapes, at most every 5
 * s, and are `NaN` if that takes longer than 2 s.
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
  // Starts at 0, so that the first of each is visible as an increase.
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
