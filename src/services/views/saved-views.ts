import { type Selectable, sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import type { Query } from '../../db/query.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import { asJson, type Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';
import type { HolderId } from '../members/holder.ts';

/** Views of one owner, and of a workspace, at most. */
export const MAX_OWN_VIEWS = 50;
export const MAX_VIEWS = 1_000;

/** Lists that have views. */
export const VIEWED_PAGES = ['executions'] as const;
export type ViewedPage = (typeof VIEWED_PAGES)[number];

const COLUMNS = ['id', 'owner', 'name', 'page', 'query', 'columns', 'shared', 'created_at', 'updated_at'] as const;
export type SavedViewRow = Pick<Selectable<Tables['saved_views']>, (typeof COLUMNS)[number]>;

/** What a view says. */
export interface ViewSettings {
  page: ViewedPage;
  query: Record<string, string>;
  columns: string[];
  shared: boolean;
}

const select = (db: Builder) => db.selectFrom('saved_views').select(COLUMNS);

/** Those of the owner and those that are shared, oldest first: a page of at most `limit` after the id `after`. */
export function listViews(
  query: Query,
  owner: HolderId,
  { page, limit, after }: { page: ViewedPage | undefined; limit: number; after: string | undefined },
): Promise<Page<SavedViewRow>> {
  const visible = (db: Builder) =>
    select(db)
      .where((eb) => eb.or([eb('owner', '=', owner), eb('shared', '=', true)]))
      .where((eb) =>
        eb.and([...given(page, (name) => eb('page', '=', name)), ...given(after, (id) => eb('id', '>', id))]),
      );
  const bytes = () => sql<number>`pg_column_size(query) + pg_column_size(columns)`;
  return selectPage(query, { select: visible, orderBy: [['id', 'asc']], bytes }, limit);
}

/**
 * Stores a view in place of the owner's of that name, if there is one.
 * @throws ApiError `quota_exceeded`
 */
export async function setView(
  db: WorkspaceDatabase,
  owner: HolderId,
  name: string,
  { page, query: parameters, columns, shared }: ViewSettings,
): Promise<SavedViewRow> {
  const values = { page, query: asJson(parameters), columns, shared, updated_at: now };
  return db.transaction(async (query) => {
    const [row] = await query((own) =>
      own
        .insertInto('saved_views')
        .values({ id: newId(), owner, name, ...values, created_at: now })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'owner', 'name']).doUpdateSet(values))
        .returning(COLUMNS),
    );
    if (row === undefined) throw new Error('A view was not stored.');
    await requireRoom(query, owner);
    return row;
  });
}

/** Exact: others of the workspace wait here until the transaction has ended. */
async function requireRoom(query: Query, owner: HolderId): Promise<void> {
  await lockInWorkspace(query, 'quota views');
  const [count] = await query((db) =>
    db
      .selectFrom('saved_views')
      .select((eb) => [
        eb.fn.countAll<number>().as('all'),
        eb.fn.countAll<number>().filterWhere('owner', '=', owner).as('own'),
      ]),
  );
  if ((count?.own ?? 0) > MAX_OWN_VIEWS)
    throw new ApiError('quota_exceeded', `You can have at most ${MAX_OWN_VIEWS} views: delete one of them first.`);
  if ((count?.all ?? 0) > MAX_VIEWS)
    throw new ApiError('quota_exceeded', `A workspace can have at most ${MAX_VIEWS} views: delete one of them first.`);
}

/**
 * Deletes a view of an owner. That of somebody else is recorded in the audit log.
 * @param whose `own`: of the caller; `shared`: one that somebody else shares
 * @returns it as it was
 * @throws ApiError `not_found`
 */
export async function deleteView(
  db: WorkspaceDatabase,
  owner: string,
  name: string,
  whose: 'own' | 'shared',
): Promise<SavedViewRow> {
  return db.transaction(async (query) => {
    const [row] = await query((all) =>
      all
        .deleteFrom('saved_views')
        .where('owner', '=', owner)
        .where('name', '=', name)
        .$if(whose === 'shared', (theirs) => theirs.where('shared', '=', true))
        .returning(COLUMNS),
    );
    if (row === undefined)
      throw notFound(`A ${whose === 'own' ? 'view of yours' : `shared view of ${owner}`} with the name "${name}"`);
    if (whose === 'shared') await recordChange(query, 'view.deleted', name, { owner, page: row.page });
    return row;
  });
}
