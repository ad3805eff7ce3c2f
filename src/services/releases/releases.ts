import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import type { ReleaseActor, ReleaseApproval, ReleaseDecision, StoredStep } from '../../domain/releases/release.ts';
import type { ReleaseStatus } from '../../domain/releases/release-states.ts';

const COLUMNS = [
  'id',
  'workspace_id',
  'prompt_id',
  'prompt_name',
  'label',
  'stable_version',
  'candidate_version',
  'steps',
  'step',
  'percent',
  'salt',
  'stage',
  'status',
  'status_reason',
  'reason',
  'metadata',
  'deadline',
  'approvals',
  'decisions',
  'evaluation_id',
  'created_by',
  'authors',
  'created_at',
  'promoted_at',
  'finished_at',
] as const;

const FIND = prepared<{ id: string }>()((db, { id }) => db.selectFrom('releases').select(COLUMNS).where('id', '=', id));
const LOCK = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('releases').select(COLUMNS).where('id', '=', id).forUpdate(),
);

export type ReleaseRow = Omit<
  RowOf<typeof FIND>,
  'steps' | 'approvals' | 'decisions' | 'created_by' | 'metadata' | 'authors'
> & {
  steps: StoredStep[];
  approvals: ReleaseApproval[];
  decisions: ReleaseDecision[];
  created_by: ReleaseActor;
  metadata: Record<string, string>;
  authors: string[];
};

/** @throws ApiError `not_found` */
export async function getRelease(query: Query, id: string): Promise<ReleaseRow> {
  const [row] = await query(FIND, { id });
  if (!row) throw notFound('This release');
  return row as ReleaseRow;
}

/** The same, locked until the transaction ends; undefined where it is gone. */
export async function lockRelease(query: Query, id: string): Promise<ReleaseRow | undefined> {
  const [row] = await query(LOCK, { id });
  return row as ReleaseRow | undefined;
}

export interface ReleaseFilter {
  promptName?: string | undefined;
  label?: string | undefined;
  status?: ReleaseStatus | undefined;
}

/** Releases, newest first, a page of at most `limit` before the id `before`. */
export async function listReleases(
  db: WorkspaceDatabase,
  { promptName, label, status }: ReleaseFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<ReleaseRow>> {
  const eb = expressionBuilder<Tables, 'releases'>();
  const where: Expression<SqlBool> = eb.and([
    ...given(promptName, (value) => eb('prompt_name', '=', value)),
    ...given(label, (value) => eb('label', '=', value)),
    ...given(status, (value) => eb('status', '=', value)),
    ...given(before, (value) => eb('id', '<', value)),
  ]);
  const page = await selectPage(
    db.query,
    {
      select: (own) => own.selectFrom('releases').select(COLUMNS).select('bytes').where(where),
      orderBy: [['id', 'desc']],
      bytes: (row) => row.ref('bytes'),
    },
    limit,
  );
  return page as Page<ReleaseRow>;
}
