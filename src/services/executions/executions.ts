import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { inStates } from '../../db/state-change.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import { notFound } from '../../domain/errors.ts';
import { type ExecutionStatus, executionStates } from '../../domain/execution-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { Arm } from '../../domain/rollout.ts';

/** What callers see of an execution. */
export const EXECUTION_COLUMNS = [
  'id',
  'status',
  'prompt_name',
  'prompt_version',
  'model',
  'requested_model',
  'provider',
  'parameters',
  'variables',
  'input',
  'input_messages',
  'tools',
  'tool_choice',
  'includes',
  'metadata',
  'attempts',
  'calls',
  'output',
  'tool_calls',
  'finish_reason',
  'tokens_input',
  'tokens_output',
  'tokens_cached_input',
  'tokens_reasoning',
  'cost_amount',
  'pricing',
  'model_ms',
  'error',
  'reused_from',
  'release_id',
  'release_arm',
  'release_keyed',
  'created_at',
  'started_at',
  'finished_at',
] as const;

const FIND = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('executions').select(EXECUTION_COLUMNS).where('id', '=', id),
);
export type ExecutionRow = RowOf<typeof FIND>;

/** @throws ApiError `not_found` */
export async function getExecution(db: WorkspaceDatabase, id: string): Promise<ExecutionRow> {
  const [row] = await db.query(FIND, { id });
  if (!row) throw notFound('This execution');
  return row;
}

const STATUS = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('executions').select('status').where('id', '=', id),
);

/** Across workspaces; undefined where there is no such execution. */
export async function executionStatus(query: Query, id: string): Promise<ExecutionStatus | undefined> {
  const [row] = await query(STATUS, { id });
  return row?.status;
}

export function isFinished(status: ExecutionStatus): boolean {
  return executionStates.final.includes(status);
}

export interface ExecutionFilter {
  promptName?: string | undefined;
  status?: ExecutionStatus | undefined;
  model?: string | undefined;
  /** UUID. */
  release?: string | undefined;
  arm?: Arm | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Executions, newest first, a page of at most `limit` before the id `before`. */
export function listExecutions(
  db: WorkspaceDatabase,
  { promptName, status, model, release, arm, since, until }: ExecutionFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<ExecutionRow>> {
  const { from, to } = idsOfSpan(since, until);
  return selectPage(
    db.query,
    {
      select: (own) => {
        let list = own.selectFrom('executions').select([...EXECUTION_COLUMNS, 'bytes']);
        if (promptName !== undefined) list = list.where('prompt_name', '=', promptName);
        if (status !== undefined) list = list.where('status', '=', status);
        if (model !== undefined) list = list.where('model', '=', model);
        if (release !== undefined) list = list.where('release_id', '=', release);
        if (arm !== undefined) list = list.where('release_arm', '=', arm);
        if (since !== undefined) list = list.where('created_at', '>=', since).where('id', '>=', from);
        if (until !== undefined) list = list.where('created_at', '<', until).where('id', '<', to);
        return before === undefined ? list : list.where('id', '<', before);
      },
      orderBy: [['id', 'desc']],
      bytes: () => sql.ref<number>('bytes'),
    },
    limit,
  );
}

/** Of executions those that have ended, by the ids that are given. */
export async function endedOf(query: Query, ids: string[]): Promise<string[]> {
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select('id')
      .where('id', 'in', ids)
      .where(inStates(executionStates, executionStates.final)),
  );
  return rows.map(({ id }) => id);
}
