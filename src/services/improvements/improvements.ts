import { expressionBuilder, type InferResult, type SqlBool, sql, type UpdateObject } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given, now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import { asJson, type Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { CandidateStatus } from '../../domain/improvements/candidate.ts';
import type {
  CandidateContent,
  CandidateRun,
  ImprovementRequest,
  ImprovementSplit,
  SearchState,
} from '../../domain/improvements/improvement.ts';
import { type ImprovementStatus, improvementStates } from '../../domain/improvements/improvement-states.ts';
import type { LedgerEntry } from '../../domain/improvements/split.ts';
import type { Verdict } from '../../domain/improvements/verdict.ts';
import type { Version } from '../../domain/prompts/prompt-version.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import { type RowIn, rowsBy } from '../named-rows.ts';

const COLUMNS = [
  'id',
  'workspace_id',
  'prompt_name',
  'prompt_version',
  'dataset_name',
  'dataset_version',
  'status',
  'status_reason',
  'phase',
  'round',
  'stop_reason',
  'accepted_version',
  'accepted_release_id',
  'error',
  'deadline',
  'created_at',
  'finished_at',
  'bytes',
] as const;

const select = (db: Builder) =>
  db
    .selectFrom('improvements')
    .select(COLUMNS)
    .select(sql<string | null>`trim_scale(max_cost)::text`.as('max_cost'))
    .select(sql<EvaluatorConfig[]>`evaluators`.as('evaluators'))
    .select(['base', 'request', 'split', 'state', 'verdict'])
    .$narrowType<{
      base: Version;
      request: ImprovementRequest;
      split: ImprovementSplit;
      state: SearchState;
      verdict: Verdict | null;
    }>();

const IMPROVEMENTS = rowsBy({ select, keys: ['id'], bytes: (eb) => eb.ref('bytes'), what: 'This improvement' });
export type ImprovementRow = RowIn<typeof IMPROVEMENTS>;

/** @throws ApiError `not_found` */
export const getImprovement = (query: Query, id: string): Promise<ImprovementRow> => IMPROVEMENTS.get(query, { id });

/** Locks an improvement until the transaction ends; undefined if it is gone. */
export const lockImprovement = (query: Query, id: string): Promise<ImprovementRow | undefined> =>
  IMPROVEMENTS.lock(query, { id });

export interface ImprovementFilter {
  promptName?: string | undefined;
  status?: ImprovementStatus | undefined;
}

/** Improvements, newest first: a page of at most `limit` before the id `before`. */
export function listImprovements(
  db: WorkspaceDatabase,
  { promptName, status }: ImprovementFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<ImprovementRow>> {
  const eb = expressionBuilder<Tables, 'improvements'>();
  const where = eb.and([
    ...given(promptName, (value) => eb('prompt_name', '=', value)),
    ...given(status, (value) => eb('status', '=', value)),
  ]);
  return IMPROVEMENTS.list(db.query, limit, before, where);
}

/** Marks a change that the workflow must notice. The code that makes the change signals the workflow; if that fails, the reconciliation does. */
export const SIGNAL_PENDING = { signal_pending: true, check_at: sql<Date>`now() + interval '15 seconds'` };

type Columns = UpdateObject<Tables, 'improvements'>;

/** Stores what has changed of an improvement that the transaction has locked. @returns it as it is now */
export async function saveImprovement(
  query: Query,
  row: ImprovementRow,
  changes: Partial<
    Pick<
      ImprovementRow,
      'status' | 'status_reason' | 'phase' | 'round' | 'state' | 'stop_reason' | 'max_cost' | 'verdict' | 'error'
    >
  >,
  more: Columns = {},
): Promise<ImprovementRow> {
  const { status = row.status, state, verdict, error, ...columns } = changes;
  const change = status === row.status ? undefined : changeState(improvementStates, { to: status, from: [row.status] });
  await query((db) => {
    const update = db
      .updateTable('improvements')
      .set({
        ...columns,
        ...(state !== undefined && { state: asJson(state) }),
        ...(verdict !== undefined && { verdict: asJson(verdict) }),
        ...(error !== undefined && { error: asJson(error) }),
        ...more,
        ...change?.set,
      } as Columns)
      .where('id', '=', row.id);
    return change === undefined ? update : update.where(change.where);
  });
  return { ...row, ...changes };
}

/** Rows of a statement, whose parameters are limited. */
const LEDGER_ROWS = 500;

const CANDIDATE_COLUMNS = [
  'improvement_id',
  'number',
  'round',
  'parent',
  'kind',
  'status',
  'content',
  'change',
  'diagnosis',
  'reject',
  'run',
  'bytes',
] as const;

const selectCandidates = (db: Builder) =>
  db.selectFrom('improvement_candidates').select(CANDIDATE_COLUMNS).$narrowType<{
    status: CandidateStatus;
    content: CandidateContent | null;
    diagnosis: string[] | null;
    reject: { code: string; message: string } | null;
    run: CandidateRun;
  }>();

export type CandidateRow = InferResult<ReturnType<typeof selectCandidates>>[number];

/** What the service itself works with: without the columns of the list. */
export type Candidate = Omit<CandidateRow, 'improvement_id' | 'bytes'>;

/** All candidates of an improvement, by number. */
export const readCandidates = (query: Query, id: string): Promise<CandidateRow[]> =>
  query((db) => selectCandidates(db).where('improvement_id', '=', id).orderBy('number'));

/** A page of at most `limit` candidates after the number `after`. */
export const listCandidates = (
  query: Query,
  id: string,
  limit: number,
  after: number | undefined,
): Promise<Page<CandidateRow>> =>
  selectPage(
    query,
    {
      select: (db) =>
        selectCandidates(db)
          .where('improvement_id', '=', id)
          .$if(after !== undefined, (rows) => rows.where('number', '>', after ?? 0)),
      orderBy: [['number', 'asc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
  );

/** Stores candidates, or what has changed of them. */
export async function saveCandidates(query: Query, id: string, candidates: readonly Candidate[]): Promise<void> {
  for (const { number, content, diagnosis, reject, run, ...candidate } of candidates) {
    const columns = {
      ...candidate,
      content: asJson(content),
      diagnosis: asJson(diagnosis),
      reject: asJson(reject),
      run: asJson(run),
    };
    await query((db) =>
      db
        .insertInto('improvement_candidates')
        .values({ improvement_id: id, number, ...columns, created_at: now })
        .onConflict((conflict) => conflict.columns(['improvement_id', 'number']).doUpdateSet(columns)),
    );
  }
}

/** What earlier improvements of a prompt did with these examples, by key. */
export async function readLedger(
  query: Query,
  promptName: string,
  keys: readonly string[],
): Promise<Map<string, LedgerEntry>> {
  const rows = await query((db) =>
    db
      .selectFrom('improvement_looks')
      .select([sql<string>`encode(hash, 'hex')`.as('key'), 'seen', 'looks'])
      .where('prompt_name', '=', promptName)
      .where(sql<SqlBool>`hash = any(${keys.map((key) => Buffer.from(key, 'hex'))}::bytea[])`),
  );
  return new Map(rows.map(({ key, seen, looks }) => [key, { seen, looks }]));
}

/** Notes that a search learns from these examples (`seen`), or that a verdict looks at them. */
export async function noteInLedger(
  query: Query,
  promptName: string,
  keys: readonly string[],
  what: 'seen' | 'look',
): Promise<void> {
  const values = keys.map((key) => ({
    prompt_name: promptName,
    hash: Buffer.from(key, 'hex'),
    seen: what === 'seen',
    looks: what === 'look' ? 1 : 0,
  }));
  for (let at = 0; at < values.length; at += LEDGER_ROWS)
    await query((db) =>
      db
        .insertInto('improvement_looks')
        .values(values.slice(at, at + LEDGER_ROWS))
        .onConflict((conflict) =>
          conflict.columns(['workspace_id', 'prompt_name', 'hash']).doUpdateSet((eb) => ({
            seen: sql<boolean>`${sql.ref('improvement_looks.seen')} or ${eb.ref('excluded.seen')}`,
            looks: sql<number>`${sql.ref('improvement_looks.looks')} + ${eb.ref('excluded.looks')}`,
          })),
        ),
    );
}

/** How many candidates of an improvement have each status, and its base. */
export interface Progress {
  counts: Partial<Record<CandidateStatus, number>>;
  base: CandidateRow | undefined;
}

/** The progress of some improvements, by id. */
export async function readProgress(query: Query, ids: readonly string[]): Promise<Map<string, Progress>> {
  const isOfThese = sql<SqlBool>`improvement_id = any(${ids}::uuid[])`;
  const counted = await query((db) =>
    db
      .selectFrom('improvement_candidates')
      .select(['improvement_id', 'status', (eb) => eb.fn.countAll<number>().as('count')])
      .$narrowType<{ status: CandidateStatus }>()
      .where(isOfThese)
      .groupBy(['improvement_id', 'status']),
  );
  const bases = await query((db) => selectCandidates(db).where(isOfThese).where('number', '=', 0));
  return new Map(
    ids.map((id) => [
      id,
      {
        counts: Object.fromEntries(
          counted.filter((each) => each.improvement_id === id).map(({ status, count }) => [status, count]),
        ),
        base: bases.find((each) => each.improvement_id === id),
      },
    ]),
  );
}
