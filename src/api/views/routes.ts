import { z } from 'zod';
import { requireAlso } from '../../domain/scopes.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { holderOf } from '../../services/members/holder.ts';
import {
  deleteView,
  listViews,
  MAX_OWN_VIEWS,
  type SavedViewRow,
  setView,
  VIEWED_PAGES,
} from '../../services/views/saved-views.ts';
import { DeleteViewQuery, PutView, View, ViewList, ViewParams, ViewsQuery, viewSample } from './schema.ts';

const tag = 'Views';

function presentView({ name, page, query, columns, shared, owner, ...row }: SavedViewRow, caller: string) {
  return {
    name,
    page: VIEWED_PAGES.find((each) => each === page) ?? VIEWED_PAGES[0],
    query,
    columns,
    shared,
    owner,
    own: owner === caller,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  } satisfies z.input<typeof View>;
}

/** `/views`: saved filters and columns of lists. */
export function viewRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/views',
      operationId: 'listViews',
      tag,
      summary: 'List your views and shared views, oldest first',
      scope: 'read',
      query: ViewsQuery,
      response: ViewList,
      responseExample: { data: [viewSample], next_cursor: null },
      async handler({ db, key, query: { page, limit, cursor } }) {
        const owner = holderOf(key);
        const views = await listViews(db.query, owner, { page, limit, after: decodeCursor(cursor, z.uuid()) });
        return toPage(
          views,
          (row) => presentView(row, owner),
          ({ id }) => id,
        );
      },
    }),
    defineRoute({
      method: 'put',
      path: '/views/{name}',
      operationId: 'setView',
      audit: 'none',
      tag,
      summary: 'Create or replace one of your views',
      description:
        'A view saves the filters and columns of a list under a name. It belongs to the member, or to the workspace key. ' +
        `You can have ${MAX_OWN_VIEWS} views.`,
      scope: 'read',
      params: ViewParams,
      body: PutView,
      bodyExamples: {
        'Slow and costly': { page: 'executions', query: { min_cost: '0.05', min_latency_ms: '5000' }, shared: true },
      },
      response: View,
      responseExample: viewSample,
      errors: ['quota_exceeded'],
      async handler({ db, key, params, body }) {
        if (body.shared) requireAlso(key.scopes, 'write', 'A view that is shared');
        const owner = holderOf(key);
        return presentView(await setView(db, owner, params.name, body), owner);
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/views/{name}',
      operationId: 'deleteView',
      audit: ['view.deleted'],
      tag,
      summary: 'Delete a view',
      description:
        'Deletes your own view or, with `owner`, a view that someone else shares, such as a former member. The latter requires the scope `admin`.',
      scope: 'read',
      params: ViewParams,
      query: DeleteViewQuery,
      response: View,
      responseExample: viewSample,
      async handler({ db, key, params, query: { owner = holderOf(key) } }) {
        const caller = holderOf(key);
        const whose = owner === caller ? 'own' : 'shared';
        if (whose === 'shared') requireAlso(key.scopes, 'admin', 'Deleting a view of another owner');
        return presentView(await deleteView(db, owner, params.name, whose), caller);
      },
    }),
  ];
}
