import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import type { CheckProgress, MonitorCheck } from '../../domain/monitors/monitor.ts';

export const MONITOR_COLUMNS = [
  'id',
  'name',
  'prompt_name',
  'label',
  'window',
  'checks',
  'notify',
  'enabled',
  'state',
  'since',
  'progress',
  'silent',
  'revision',
  'last_checked_at',
  'created_at',
  'updated_at',
] as const;

const FIND = prepared<{ name: string }>()((db, { name }) =>
  db.selectFrom('monitors').select(MONITOR_COLUMNS).where('name', '=', name),
);
const LOCK = prepared<{ name: string }>()((db, { name }) =>
  db.selectFrom('monitors').select(MONITOR_COLUMNS).where('name', '=', name).forUpdate(),
);

export type MonitorRow = Omit<RowOf<typeof FIND>, 'checks' | 'notify' | 'progress'> & {
  checks: MonitorCheck[];
  notify: { email: boolean };
  progress: CheckProgress[];
};

const WHAT = 'This monitor';

/** @throws ApiError `not_found` */
export async function getMonitor(query: Query, name: string): Promise<MonitorRow> {
  const [row] = await query(FIND, { name });
  if (!row) throw notFound(WHAT);
  return row as MonitorRow;
}

/** The same, locked until the transaction ends. @throws ApiError `not_found` */
export async function lockMonitor(query: Query, name: string): Promise<MonitorRow> {
  const [row] = await query(LOCK, { name });
  if (!row) throw notFound(WHAT);
  return row as MonitorRow;
}

/** Monitors by name: a page of at most `limit` after the name `after`. */
export async function listMonitors(
  { query }: WorkspaceDatabase,
  limit: number,
  after: string | undefined,
): Promise<Page<MonitorRow>> {
  const eb = expressionBuilder<Tables, 'monitors'>();
  const where: Expression<SqlBool> = eb.and([...given(after, (value) => eb('name', '>', value))]);
  const page = await selectPage(
    query,
    {
      select: (own) => own.selectFrom('monitors').select(MONITOR_COLUMNS).select('bytes').where(where),
      orderBy: [['name', 'asc']],
      bytes: (row) => row.ref('bytes'),
    },
    limit,
  );
  return page as Page<MonitorRow>;
}

const CHANGE_COLUMNS = ['c.id', 'c.previous_state', 'c.state', 'c.reason', 'c.progress', 'c.created_at'] as const;

/** Changes of a monitor's state, newest first: a page of at most `limit` before the id `before`. @throws ApiError `not_found` */
export async function listChanges(
  { query }: WorkspaceDatabase,
  name: string,
  limit: number,
  before: string | undefined,
) {
  const { id, checks } = await getMonitor(query, name);
  const eb = expressionBuilder<Tables & { c: Tables['monitor_changes'] }, 'c'>();
  const where = eb.and([eb('c.monitor_id', '=', id), ...given(before, (value) => eb('c.id', '<', value))]);
  const page = await selectPage(
    query,
    {
      select: (own) => own.selectFrom('monitor_changes as c').select(CHANGE_COLUMNS).where(where),
      orderBy: [['id', 'desc']],
      bytes: () => sql<number>`octet_length(reason) + octet_length(progress::text)`,
    },
    limit,
  );
  return { checks, page };
}
