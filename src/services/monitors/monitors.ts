import { expressionBuilder, sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { selectPage } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { CheckProgress, MonitorCheck } from '../../domain/monitors/monitor.ts';
import { monitorStates } from '../../domain/monitors/monitor-states.ts';
import { namedRows, type RowIn } from '../named-rows.ts';

const COLUMNS = [
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
  'bytes',
] as const;

export const selectMonitors = (db: Builder) =>
  db
    .selectFrom('monitors')
    .select(COLUMNS)
    .$narrowType<{ checks: MonitorCheck[]; notify: { email: boolean }; progress: CheckProgress[] }>();

export const MONITORS = namedRows({
  table: 'monitors',
  select: selectMonitors,
  keys: ['name'],
  bytes: (row) => row.ref('bytes'),
  what: 'This monitor',
  json: ['checks', 'notify'],
  audit: { created: 'monitor.created', updated: 'monitor.updated', deleted: 'monitor.deleted' },
  onCreate: { state: monitorStates.initial, since: now, created_at: now },
  // Invalidates what a check in progress has read.
  onReplace: { revision: sql<number>`${sql.ref('monitors.revision')} + 1` },
});
export type MonitorRow = RowIn<typeof MONITORS>;

const CHANGE_COLUMNS = ['c.id', 'c.previous_state', 'c.state', 'c.reason', 'c.progress', 'c.created_at'] as const;

/** Changes of a monitor's state, newest first: a page of at most `limit` before the id `before`. @throws ApiError `not_found` */
export async function listChanges(
  { query }: WorkspaceDatabase,
  name: string,
  limit: number,
  before: string | undefined,
) {
  const { id, checks } = await MONITORS.get(query, { name });
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
