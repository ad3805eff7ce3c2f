import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Database, PoolUse } from '../../db/database.ts';
import type { Builder } from '../../db/statement.ts';
import { cachedReading, PING_KEPT_AT_MOST_MS, READ_TIMEOUT_MS } from './cached-reading.ts';

/** The minimum interval for reading values that change slowly. */
const SERVER_KEPT_MS = 30_000;
/** The number of tables to show: those with the most dead rows, which vacuum does not keep up with. */
const TABLES = 10;

const ping = (db: Builder) => db.selectNoFrom(sql<number>`1`.as('one'));

/** Uses statistics that PostgreSQL has at hand; reads no tables. */
const readServer = (db: Builder) =>
  db.selectNoFrom([
    sql<number>`pg_database_size(current_database())::float8`.as('bytes'),
    // Only a superuser or a member of pg_monitor sees the start of transactions of other users' sessions.
    sql<number>`(select coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0)::float8 from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend')`.as(
      'oldest',
    ),
    sql<number>`(select count(*)::int from pg_stat_activity where backend_type = 'client backend')`.as('connections'),
    sql<number>`current_setting('max_connections')::int`.as('max_connections'),
    sql<{ table: string; dead: number; live: number }[]>`(
      select coalesce(jsonb_agg(jsonb_build_object('table', relname, 'dead', n_dead_tup, 'live', n_live_tup)), '[]') from (
        select relname, n_dead_tup, n_live_tup from pg_stat_user_tables order by n_dead_tup desc, relname limit ${sql.lit(TABLES)}
      ) as most)`.as('tables'),
  ]);

interface Server {
  bytes: number;
  oldest: number;
  connections: number;
  max_connections: number;
  tables: { table: string; dead: number; live: number }[];
}
const UNKNOWN: Server = {
  bytes: Number.NaN,
  oldest: Number.NaN,
  connections: Number.NaN,
  max_connections: Number.NaN,
  tables: [],
};

/**
 * Registers gauges of this process's connections and of the state of PostgreSQL. Values from PostgreSQL are `NaN` if reading them
 * takes longer than 2 s, and `pms_database_up` is then 0.
 */
export function addDatabaseMetrics(registry: Registry, db: Database): void {
  const registers = [registry];
  const { system } = db;
  const pinged = cachedReading(
    async () => {
      const startedAt = performance.now();
      await system.query(ping);
      return (performance.now() - startedAt) / 1_000;
    },
    { unknown: Number.NaN, keptAtMostMs: PING_KEPT_AT_MOST_MS },
  );
  const server = cachedReading<Server>(
    async () => {
      const [row] = await system.transaction((query) => query(readServer), { statementTimeoutMs: READ_TIMEOUT_MS });
      return row ?? UNKNOWN;
    },
    { unknown: UNKNOWN, retentionMs: SERVER_KEPT_MS },
  );

  const ofPools = (name: string, help: string, measure: keyof PoolUse) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, use] of Object.entries(db.pools())) this.set({ pool }, use[measure]);
      },
    });
  ofPools('pms_database_pool_used', 'Connections of this process that are in use', 'used');
  ofPools('pms_database_pool_idle', 'Connections of this process that are idle', 'idle');
  ofPools('pms_database_pool_max', 'Connections that this process may have', 'max');
  ofPools(
    'pms_database_pool_waiting',
    'Statements and transactions that wait for a connection of this process',
    'waiting',
  );

  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  gauge('pms_database_up', 'Whether the database responds', async () => (Number.isNaN(await pinged()) ? 0 : 1));
  gauge('pms_database_ping_seconds', 'Time for the cheapest statement, with the wait for a connection', pinged);
  gauge('pms_database_size_bytes', 'Size of the database on disk', async () => (await server()).bytes);
  gauge(
    'pms_database_oldest_transaction_seconds',
    'Age of the oldest transaction in the database',
    async () => (await server()).oldest,
  );
  gauge(
    'pms_database_server_connections',
    'Connections of all clients to the PostgreSQL server',
    async () => (await server()).connections,
  );
  gauge(
    'pms_database_server_max_connections',
    'Connections that the PostgreSQL server takes',
    async () => (await server()).max_connections,
  );
  const ofTables = (name: string, help: string, measure: 'dead' | 'live') =>
    new Gauge({
      name,
      help,
      labelNames: ['table'],
      registers,
      async collect() {
        const { tables } = await server();
        this.reset();
        for (const row of tables) this.set({ table: row.table }, row[measure]);
      },
    });
  ofTables(
    'pms_database_dead_rows',
    `Rows that vacuum is still to remove, of the ${TABLES} tables with the most`,
    'dead',
  );
  ofTables('pms_database_live_rows', 'Rows of the same tables, estimated', 'live');
}
