import { sql } from 'kysely';
import { arrayOf, now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { type Builder, prepared } from '../../db/statement.ts';
import type { StorageKind } from '../../db/storage-triggers.ts';
import type { Tables } from '../../db/tables.ts';
import { DECLARATIONS } from '../../domain/capabilities.ts';
import { merge } from '../../domain/capability.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import { improvementStates, UNFINISHED_IMPROVEMENT } from '../../domain/improvements/improvement-states.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../domain/webhooks/delivery-states.ts';

/** Every quota of a workspace. */
export const QUOTAS = merge(DECLARATIONS, 'quotas');

export type QuotaName = keyof typeof QUOTAS;

/** Quotas on the number of rows in a table. */
type RowQuota = {
  [Name in QuotaName]: (typeof QUOTAS)[Name] extends { rows: keyof Tables } ? Name : never;
}[QuotaName];

const countRows = (table: (typeof QUOTAS)[RowQuota]['rows']) =>
  prepared()((db) => db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count')));

const ROW_COUNTS = Object.fromEntries(
  Object.entries(QUOTAS).flatMap(([name, quota]) => ('rows' in quota ? [[name, countRows(quota.rows)]] : [])),
) as Record<RowQuota, ReturnType<typeof countRows>>;

/** The exact size of what a workspace stores: its sum and the entries that are not in it yet. */
const countBytes = (db: Builder, kind: StorageKind) =>
  db.selectNoFrom((eb) =>
    sql<number>`(coalesce(${eb.selectFrom('storage_sums').select('bytes').where('kind', '=', kind)}, 0)
      + coalesce(${eb
        .selectFrom('storage_entries')
        .select((of) => of.fn.sum('bytes').as('bytes'))
        .where('kind', '=', kind)}, 0))::bigint`.as('count'),
  );

/** The current number in a workspace, for every quota that is counted in the database. */
export const COUNTS = {
  ...ROW_COUNTS,
  apiKeys: prepared()((db) =>
    db
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('kind', '<>', 'sign_in')
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
  ),
  promptBytes: prepared()((db) =>
    db.selectFrom('prompts').select(sql<number>`coalesce(sum(stored_bytes), 0)::bigint`.as('count')),
  ),
  datasets: prepared()((db) =>
    db.selectFrom('dataset_versions').select((eb) => eb.fn.count<number>('dataset_id').distinct().as('count')),
  ),
  datasetBytes: prepared()((db) =>
    db.selectFrom('dataset_versions').select(sql<number>`coalesce(sum(bytes), 0)::bigint`.as('count')),
  ),
  evaluations: prepared()((db) =>
    db
      .selectFrom('evaluations')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      // Their number is limited by that of improvements.
      .where('improvement_id', 'is', null)
      .where(inStates(evaluationStates, UNFINISHED_EVALUATION)),
  ),
  improvements: prepared()((db) =>
    db
      .selectFrom('improvements')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(inStates(improvementStates, UNFINISHED_IMPROVEMENT)),
  ),
  deliveries: prepared()((db) =>
    db
      .selectFrom('deliveries')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where((eb) => sql<boolean>`webhook_id = any(${arrayOf(eb.selectFrom('webhooks').select('id'))})`)
      .where(inStates(deliveryStates, UNFINISHED_DELIVERY)),
  ),
  executionBytes: prepared()((db) => countBytes(db, 'runs')),
  auditBytes: prepared()((db) => countBytes(db, 'audit')),
  executions: prepared()((db) =>
    db
      .selectFrom('executions')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(inStates(executionStates, UNFINISHED_EXECUTION)),
  ),
};
