import { expressionBuilder, sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import type { Query } from '../../db/query.ts';
import type { Page } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import { recordChange } from '../audit/record-change.ts';
import type { HolderId } from '../members/holder.ts';
import { namedRows, type RowIn } from '../named-rows.ts';
import { requireRoom } from '../workspaces/quotas.ts';

/** The maximum number of views of one owner, and of a workspace. */
export const MAX_OWN_VIEWS = 50;
export const MAX_VIEWS = 1_000;

/** The lists that can have views. */
export const VIEWED_PAGES = ['executions', 'traces'] as const;
export type ViewedPage = (typeof VIEWED_PAGES)[number];

/** The settings of a view. */
export interface ViewSettings {
  page: ViewedPage;
  query: Record<string, string>;
  columns: string[];
  shared: boolean;
}

const VIEWS = namedRows({
  table: 'saved_views',
  select: (db: Builder) =>
    db
      .selectFrom('saved_views')
      .select(['id', 'owner', 'name', 'page', 'query', 'columns', 'shared', 'created_at', 'updated_at']),
  keys: ['owner', 'name'],
  order: ['id', 'asc'],
  bytes: () => sql<number>`pg_column_size(query) + pg_column_size(columns)`,
  what: 'This view',
  json: ['query'],
});
export type SavedViewRow = RowIn<typeof VIEWS>;
/** The views of the owner and all shared ones, oldest first: a page of at most `limit` after the id `after`. */
export function listViews(
  query: Query,
  owner: HolderId,
  { page, limit, after }: { page: ViewedPage | undefined; limit: number; after: string | undefined },
): Promise<Page<SavedViewRow>> {
  const eb = expressionBuilder<Tables, 'saved_views'>();
  const isVisible = eb.or([eb('owner', '=', owner), eb('shared', '=', true)]);
  return VIEWS.list(query, limit, after, eb.and([isVisible, ...given(page, (name) => eb('page', '=', name))]));
}

/**
 * Stores a view, replacing the owner's view of that name.
 * @throws ApiError `quota_exceeded`
 */
export const setView = (
  db: WorkspaceDatabase,
  owner: HolderId,
  name: string,
  { page, query: parameters, columns, shared }: ViewSettings,
): Promise<SavedViewRow> =>
  db.transaction((query) =>
    VIEWS.put(query, { owner, name }, () => ({ values: { page, query: parameters, columns, shared } }), {
      async created() {
        const refuse = (who: string, max: number) => `${who} can have at most ${max} views: delete one of them first.`;
        await requireRoom(query, 'saved_views', MAX_OWN_VIEWS, refuse('You', MAX_OWN_VIEWS), { owner });
        await requireRoom(query, 'saved_views', MAX_VIEWS, refuse('A workspace', MAX_VIEWS));
      },
    }),
  );

/**
 * Deletes a view. Deleting the view of another owner is recorded in the audit log.
 * @param whose `own`: of the caller; `shared`: a shared view of another owner
 * @returns it before the deletion
 * @throws ApiError `not_found`
 */
export const deleteView = (
  db: WorkspaceDatabase,
  owner: string,
  name: string,
  whose: 'own' | 'shared',
): Promise<SavedViewRow> =>
  db.transaction(async (query) => {
    const row = await VIEWS.lock(query, { owner, name });
    if (row === undefined || (whose === 'shared' && !row.shared))
      throw notFound(`A ${whose === 'own' ? 'view that you own' : `shared view of ${owner}`} with the name "${name}"`);
    await VIEWS.delete(query, { owner, name });
    if (whose === 'shared') await recordChange(query, 'view.deleted', name, { owner, page: row.page });
    return row;
  });
