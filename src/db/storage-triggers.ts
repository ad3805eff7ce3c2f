import { TRASH_WORKSPACE } from './trash.ts';

/**
 * `runs`: executions with their items for rules, traces, scores, evaluations with their results, releases, backfills, improvements, deliveries,
 * and stored responses for an `Idempotency-Key`.
 */
export type StorageKind = 'runs' | 'audit';

/** The size of a row without its texts, including its share of the indexes. */
const ROW_BYTES = 1024;
/** A row of `rule_items` has no texts. */
const RULE_ITEM_BYTES = 256;
/** A delivery with an attempt: its request without the body, and 1 KiB of the response. Not measured, because most are created in bulk. */
const DELIVERY_BYTES = 4096;

/** How the bytes of a row are counted, as SQL. */
interface StoredTable {
  table: string;
  kind: StorageKind;
  bytes: (row: string) => string;
}

/** Excludes the calls of an unfinished execution: each is stored when it starts, and that must not cost an entry. */
const EXECUTIONS: StoredTable = {
  table: 'executions',
  kind: 'runs',
  bytes: (row) =>
    `(${row}.bytes + ${ROW_BYTES} - case when ${row}.finished_at is null then octet_length(${row}.calls::text) else 0 end)`,
};

const RULE_ITEMS: StoredTable = {
  table: 'rule_items',
  kind: 'runs',
  bytes: () => `${RULE_ITEM_BYTES}`,
};

/** The parts that never change; its results are summed up in `result_bytes`. */
const EVALUATIONS: StoredTable = {
  table: 'evaluations',
  kind: 'runs',
  bytes: (row) =>
    `(${['content', 'includes', 'evaluators', 'metadata'].map((column) => `octet_length(${row}.${column}::text)`).join(' + ')} + ${ROW_BYTES})`,
};

const withBytes = (table: string): StoredTable => ({
  table,
  kind: 'runs',
  bytes: (row) => `(${row}.bytes + ${ROW_BYTES})`,
});
const SCORES = withBytes('scores');
const RELEASES = withBytes('releases');
/** Its bytes include its steps, whose days are dropped as a whole. */
const TRACES = withBytes('traces');
const BACKFILLS = withBytes('rule_backfills');
const IMPROVEMENTS = withBytes('improvements');
const CANDIDATES = withBytes('improvement_candidates');

const judgements = (table: string): StoredTable => ({
  table,
  kind: 'runs',
  bytes: (row) => `(coalesce(octet_length(${row}.answer), 0) + ${ROW_BYTES})`,
});

const DELIVERIES: StoredTable = { table: 'deliveries', kind: 'runs', bytes: () => `${DELIVERY_BYTES}` };

/** A key without a stored response counts nothing: most responses are stored by an update. */
const IDEMPOTENCY_KEYS: StoredTable = {
  table: 'idempotency_keys',
  kind: 'runs',
  bytes: (row) => `coalesce(octet_length(${row}.answer) + ${ROW_BYTES}, 0)`,
};

const AUDIT_LOG: StoredTable = {
  table: 'audit_log',
  kind: 'audit',
  bytes: (row) => `(octet_length(${row}.details::text) + ${ROW_BYTES})`,
};

function trigger(
  { table }: Pick<StoredTable, 'table'>,
  event: 'insert' | 'update' | 'delete',
  { each, entries }: { each: string; entries: string },
) {
  const name = `storage_of_${event}`;
  // MikroORM drops a trigger together with the function of this name.
  const functionName = `${table}_${name}_fn`;
  return {
    name,
    timing: 'after' as const,
    events: [event],
    // As one expression: PostgreSQL returns conditions in another form, and a comparison of the schemas would find a difference.
    expression: `create or replace function "${functionName}"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) ${entries}; return null; end $$;
create trigger "${name}" after ${event} on "${table}" ${each} execute function "${functionName}"()`,
  };
}

const inserted = (stored: StoredTable) =>
  trigger(stored, 'insert', {
    each: 'for each row',
    entries: `values (new.workspace_id, '${stored.kind}', ${stored.bytes('new')})`,
  });

/** One statement may delete many rows: they make one entry. @param where which of them count. Default: all */
const deleted = (stored: StoredTable, where = '') =>
  trigger(stored, 'delete', {
    each: 'referencing old table as gone for each statement',
    // raw SQL: a part of the body of a trigger, as all here.
    entries: `select workspace_id, '${stored.kind}', -sum(${stored.bytes('gone')}) from gone${where} group by workspace_id`,
  });

/** One statement may store many rows, and replace others: each makes one entry. */
const insertedAtOnce = (stored: StoredTable) =>
  trigger(stored, 'insert', {
    each: 'referencing new table as made for each statement',
    // raw SQL: a part of the body of a trigger.
    entries: `select workspace_id, '${stored.kind}', sum(${stored.bytes('made')}) from made group by workspace_id`,
  });
const changedAtOnce = (stored: StoredTable) =>
  trigger(stored, 'update', {
    each: 'referencing old table as gone new table as made for each statement',
    // raw SQL: a part of the body of a trigger.
    entries: `select workspace_id, '${stored.kind}', sum(bytes) from (
        select workspace_id, ${stored.bytes('made')} as bytes from made union all select workspace_id, -${stored.bytes('gone')} from gone
      ) as change group by workspace_id having sum(bytes) <> 0`,
  });

/** Most updates change no text, and must not cost a call of the trigger. */
const changed = (stored: StoredTable) =>
  trigger(stored, 'update', {
    each: `for each row when (${stored.bytes('old')} <> ${stored.bytes('new')})`,
    entries: `values (new.workspace_id, '${stored.kind}', ${stored.bytes('new')} - ${stored.bytes('old')})`,
  });

const atOnce = (stored: StoredTable) => [insertedAtOnce(stored), changedAtOnce(stored), deleted(stored)];

export const executionStorageTriggers = [inserted(EXECUTIONS), changed(EXECUTIONS), deleted(EXECUTIONS)];
export const scoreStorageTriggers = atOnce(SCORES);
export const traceStorageTriggers = atOnce(TRACES);
export const ruleItemStorageTriggers = [insertedAtOnce(RULE_ITEMS), deleted(RULE_ITEMS)];
export const releaseStorageTriggers = [inserted(RELEASES), changed(RELEASES), deleted(RELEASES)];
export const improvementStorageTriggers = [inserted(IMPROVEMENTS), changed(IMPROVEMENTS), deleted(IMPROVEMENTS)];
export const candidateStorageTriggers = [inserted(CANDIDATES), changed(CANDIDATES), deleted(CANDIDATES)];
export const backfillStorageTriggers = [inserted(BACKFILLS), changed(BACKFILLS), deleted(BACKFILLS)];
export const ruleJudgementStorageTriggers = atOnce(judgements('rule_judgements'));
export const traceJudgementStorageTriggers = atOnce(judgements('trace_judgements'));
export const deliveryStorageTriggers = [insertedAtOnce(DELIVERIES), deleted(DELIVERIES)];
export const idempotencyKeyStorageTriggers = [changed(IDEMPOTENCY_KEYS), deleted(IDEMPOTENCY_KEYS)];
export const auditStorageTriggers = [inserted(AUDIT_LOG), deleted(AUDIT_LOG)];

/** Results are summed up in the row of their evaluation, which leaves the workspace when it is deleted. */
export const evaluationStorageTriggers = [
  inserted(EVALUATIONS),
  trigger({ table: 'evaluations' }, 'update', {
    each: 'for each row when (old.result_bytes is distinct from new.result_bytes or old.workspace_id is distinct from new.workspace_id)',
    // raw SQL: a part of the body of a trigger.
    entries: `select * from (values (old.workspace_id, 'runs', -old.result_bytes), (new.workspace_id, 'runs', new.result_bytes),
          (old.workspace_id, 'runs', case when old.workspace_id = new.workspace_id then 0 else -${EVALUATIONS.bytes('old')} end))
        as change(workspace_id, kind, bytes) where workspace_id <> '${TRASH_WORKSPACE}' and bytes <> 0`,
  }),
  deleted(
    { ...EVALUATIONS, bytes: (row) => `result_bytes + ${EVALUATIONS.bytes(row)}` },
    `\n        where workspace_id <> '${TRASH_WORKSPACE}'`,
  ),
];
