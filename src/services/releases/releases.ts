import { expressionBuilder } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { Page } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { ReleaseActor, ReleaseApproval, ReleaseDecision, StoredStep } from '../../domain/releases/release.ts';
import type { ReleaseStatus } from '../../domain/releases/release-states.ts';
import { type RowIn, rowsBy } from '../named-rows.ts';

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
  'bytes',
] as const;

const select = (db: Builder) =>
  db.selectFrom('releases').select(COLUMNS).$narrowType<{
    steps: StoredStep[];
    approvals: ReleaseApproval[];
    decisions: ReleaseDecision[];
    created_by: ReleaseActor;
    metadata: Record<string, string>;
    authors: string[];
  }>();

const RELEASES = rowsBy({ select, keys: ['id'], bytes: (eb) => eb.ref('bytes'), what: 'This release' });
export type ReleaseRow = RowIn<typeof RELEASES>;

/** @throws ApiError `not_found` */
export const getRelease = (query: Query, id: string): Promise<ReleaseRow> => RELEASES.get(query, { id });

/** Locks a release until the transaction ends; undefined if it is gone. */
export const lockRelease = (query: Query, id: string): Promise<ReleaseRow | undefined> => RELEASES.lock(query, { id });

export interface ReleaseFilter {
  promptName?: string | undefined;
  label?: string | undefined;
  status?: ReleaseStatus | undefined;
}

/** Releases, newest first: a page of at most `limit` before the id `before`. */
export function listReleases(
  db: WorkspaceDatabase,
  { promptName, label, status }: ReleaseFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<ReleaseRow>> {
  const eb = expressionBuilder<Tables, 'releases'>();
  const where = eb.and([
    ...given(promptName, (value) => eb('prompt_name', '=', value)),
    ...given(label, (value) => eb('label', '=', value)),
    ...given(status, (value) => eb('status', '=', value)),
  ]);
  return RELEASES.list(db.query, limit, before, where);
}
