import { z } from 'zod';
import { smallRecord } from '../../domain/text/json-object.ts';
import { storableString, Timestamp } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { VIEWED_PAGES } from '../../services/views/saved-views.ts';

const MAX_PARAMETERS = 30;
const MAX_COLUMNS = 50;
/** Maximum size of all texts together. */
const MAX_VIEW_BYTES = 8 * 1024;

const NAME_FORM = 'must be 1–80 characters without "/" and control characters, and not begin or end with a space';

export const ViewName = z
  .string()
  .regex(/^(?!\.{1,2}$)(?! )[^\p{C}/]{1,80}(?<! )$/u, NAME_FORM)
  .meta({ override: { type: 'string', maxLength: 80 }, example: 'Slow and costly' });

const ViewedPage = z
  .enum(VIEWED_PAGES, `must be ${VIEWED_PAGES.join(' or ')}`)
  .meta({ description: 'The console list that the view belongs to.' });

const viewFields = {
  page: ViewedPage,
  query: smallRecord(
    z.string().min(1).max(64, 'has a name longer than 64 characters'),
    z.string('must be a string').max(2_000, 'must be at most 2000 characters'),
    { max: MAX_PARAMETERS, message: `must have at most ${MAX_PARAMETERS} entries`, shown: { type: 'string' } },
  ).meta({ description: 'Filters, as in the URL of the list in the console.' }),
  columns: z
    .array(z.string().min(1).max(100), 'must be a list of columns')
    .max(MAX_COLUMNS, `must be at most ${MAX_COLUMNS} columns`)
    .meta({ description: 'Columns of the list in the console, in order. If empty, the default columns.' }),
};

export const PutView = z
  .strictObject({
    ...viewFields,
    query: viewFields.query.default({}),
    columns: viewFields.columns.default([]),
    shared: z.boolean('must be true or false').default(false).meta({
      description: 'Whether all members of the workspace see the view. Sharing also requires the scope `write`.',
    }),
  })
  .refine(({ query, columns }) => Buffer.byteLength(JSON.stringify([query, columns])) <= MAX_VIEW_BYTES, {
    message: `A view may have at most ${MAX_VIEW_BYTES} bytes of filters and columns.`,
  })
  .meta({ id: 'PutView' });

export const View = z
  .object({
    name: z.string(),
    ...viewFields,
    shared: z.boolean(),
    owner: z.string().meta({ description: 'The id of a member, or of a key of the workspace.' }),
    own: z.boolean().meta({ description: 'Whether the view belongs to the caller.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'View' });

export const ViewList = pageOf(View).meta({ id: 'ViewList' });
export const ViewParams = z.object({ name: ViewName });
export const DeleteViewQuery = z.strictObject({
  owner: storableString().max(100).optional().meta({
    description: 'The `owner` of the view. Default: the caller.',
    example: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a21',
  }),
});
export const ViewsQuery = z.strictObject({ ...PageQuery, page: ViewedPage.optional() });

export const viewSample = {
  name: 'Slow and costly',
  page: 'executions' as const,
  query: { min_cost: '0.05', min_latency_ms: '5000' },
  columns: ['created', 'prompt', 'input', 'cost', 'latency'],
  shared: true,
  owner: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a21',
  own: true,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};
