import { sql } from 'kysely';
import { arrayOf, now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { type Builder, prepared } from '../../db/statement.ts';
import type { StorageKind } from '../../db/storage-triggers.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../domain/webhooks/delivery-states.ts';

interface Quota {
  /** By which operators change it. */
  setting: string;
  /** What a workspace can have so many of. */
  what: string;
  /** What a caller can do about it. */
  remedy: string;
}

const DELETE_ONE = 'Delete one that is no longer needed';

/** Every quota of a workspace. */
export const QUOTAS = {
  apiKeys: {
    setting: 'QUOTA_API_KEYS',
    what: 'API keys',
    remedy: 'Revoke one that is no longer needed',
  },
  prompts: {
    setting: 'QUOTA_PROMPTS',
    what: 'prompts, including archived ones',
    remedy: 'Use an existing one',
  },
  promptBytes: {
    setting: 'QUOTA_PROMPT_BYTES',
    what: 'bytes in prompts, over all versions',
    remedy: 'Delete versions that are not needed any more (DELETE /v1/prompts/{name}/versions/{version})',
  },
  datasets: { setting: 'QUOTA_DATASETS', what: 'datasets', remedy: DELETE_ONE },
  datasetBytes: {
    setting: 'QUOTA_DATASET_BYTES',
    what: 'bytes in datasets, over all versions, and in examples of evaluations of their own',
    remedy:
      'Delete a dataset, or evaluations with examples of their own, that are not needed any more: within a minute or two there is room',
  },
  schedules: { setting: 'QUOTA_SCHEDULES', what: 'schedules', remedy: DELETE_ONE },
  monitors: { setting: 'QUOTA_MONITORS', what: 'monitors', remedy: DELETE_ONE },
  rules: { setting: 'QUOTA_RULES', what: 'rules', remedy: DELETE_ONE },
  webhooks: { setting: 'QUOTA_WEBHOOKS', what: 'webhooks', remedy: DELETE_ONE },
  evaluations: {
    setting: 'QUOTA_EVALUATIONS',
    what: 'unfinished evaluations',
    remedy: 'Cancel one, or wait for its end',
  },
  deliveries: {
    setting: 'QUOTA_DELIVERIES',
    what: 'deliveries that have not ended',
    remedy: 'Wait until some have ended, or disable a webhook that does not respond',
  },
  executions: {
    setting: 'QUOTA_EXECUTIONS',
    what: 'unfinished executions',
    remedy: 'Cancel some, or wait for their end',
  },
  executionBytes: {
    setting: 'QUOTA_EXECUTION_BYTES',
    what: 'bytes in executions, evaluations and what comes of them',
    remedy:
      'Delete executions and evaluations that are not needed any more (DELETE /v1/executions/{id}, DELETE /v1/evaluations/{id}), disable rules that can not keep up (`waiting`), or ask the ' +
      'operator to keep them for a shorter time (EXECUTION_RETENTION, EVALUATION_RETENTION)',
  },
  auditBytes: {
    setting: 'QUOTA_AUDIT_BYTES',
    what: 'bytes in the audit log (plus a tenth reserved for admins)',
    remedy:
      'Revoking keys, deleting and archiving still work. Ask the operator to keep entries for a shorter time (AUDIT_RETENTION)',
  },
  uploads: { setting: 'QUOTA_UPLOADS', what: 'uploads in progress', remedy: 'Wait for the end of one' },
  streams: { setting: 'QUOTA_STREAMS', what: 'streams open', remedy: 'Close one, or wait for its end' },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof QUOTAS;

const countRows = (db: Builder, table: 'prompts' | 'schedules' | 'monitors' | 'rules' | 'webhooks') =>
  db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count'));

/** What a workspace stores, exactly: its sum and the entries that are not in it yet. */
const countBytes = (db: Builder, kind: StorageKind) =>
  db.selectNoFrom((eb) =>
    sql<number>`(coalesce(${eb.selectFrom('storage_sums').select('bytes').where('kind', '=', kind)}, 0)
      + coalesce(${eb
        .selectFrom('storage_entries')
        .select((of) => of.fn.sum('bytes').as('bytes'))
        .where('kind', '=', kind)}, 0))::bigint`.as('count'),
  );

/** How many there are in a workspace, for every quota whose number is in the database. */
export const COUNTS = {
  apiKeys: prepared()((db) =>
    db
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('kind', '<>', 'sign_in')
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
  ),
  prompts: prepared()((db) => countRows(db, 'prompts')),
  promptBytes: prepared()((db) =>
    db.selectFrom('prompts').select(sql<number>`coalesce(sum(stored_bytes), 0)::bigint`.as('count')),
  ),
  datasets: prepared()((db) =>
    db.selectFrom('dataset_versions').select((eb) => eb.fn.count<number>('dataset_id').distinct().as('count')),
  ),
  datasetBytes: prepared()((db) =>
    db.selectFrom('dataset_versions').select(sql<number>`coalesce(sum(bytes), 0)::bigint`.as('count')),
  ),
  schedules: prepared()((db) => countRows(db, 'schedules')),
  monitors: prepared()((db) => countRows(db, 'monitors')),
  rules: prepared()((db) => countRows(db, 'rules')),
  webhooks: prepared()((db) => countRows(db, 'webhooks')),
  evaluations: prepared()((db) =>
    db
      .selectFrom('evaluations')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(inStates(evaluationStates, UNFINISHED_EVALUATION)),
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
