import type { z } from 'zod';
import { Label as LabelName } from '../../domain/label.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { type LabelRow, listLabels, MAX_PROTECTED_LABELS, setProtected } from '../../services/prompts/labels.ts';
import { Label, LabelPage, LabelParams, ListQuery, SetProtection } from './schema.ts';

const tag = 'Labels';
const example = { label: 'production', protected: true, prompts: 12 };

const presentLabel = ({ label, is_protected, prompts }: LabelRow): z.input<typeof Label> => ({
  label,
  protected: is_protected,
  prompts,
});

/** `/labels`: the labels of all prompts, and which are protected. */
export function labelRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/labels',
      operationId: 'listLabels',
      tag,
      summary: 'List labels by name: those on prompts, and those that are protected',
      scope: 'read',
      query: ListQuery,
      response: LabelPage,
      responseExample: { data: [example], next_cursor: null },
      async handler({ db, query: { limit, cursor } }) {
        const after = decodeCursor(cursor, LabelName);
        return toPage(await listLabels(db.heavy.query, { after, limit }), presentLabel, ({ label }) => label);
      },
    }),
    defineRoute({
      method: 'put',
      path: '/labels/{label}',
      operationId: 'protectLabel',
      audit: ['label.protected', 'label.unprotected'],
      tag,
      summary: 'Protect a label, or end that',
      description:
        'A protected label is moved and removed only by keys with the scope `publish` or `admin`, on every prompt. What it is on ' +
        'may include only what is pinned to a version or to a protected label, all the way down: else it is a 400 that names it, as ' +
        'is ending the protection of a label that such an include relies on. ' +
        `A workspace can protect at most ${MAX_PROTECTED_LABELS}.`,
      scope: 'admin',
      params: LabelParams,
      body: SetProtection,
      bodyExamples: { Protect: { protected: true } },
      response: Label,
      responseExample: example,
      errors: ['quota_exceeded'],
      handler: async ({ db, params, body }) => presentLabel(await setProtected(db, params.label, body.protected)),
    }),
  ];
}
