import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { TRACE } from '../../domain/analysis/check.ts';
import { notFound } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { type ScoreSource, type ScoreValue, scoreValueOf } from '../../domain/scores/score.ts';
import { recordChange } from '../audit/record-change.ts';
import { SCORE_COLUMNS, type ScoreRow } from './store-scores.ts';

/** The maximum number of scores shown with their subject: the newest. */
export const SHOWN_SCORES = 100;

export interface ScoreFilter {
  name?: string | undefined;
  /** UUIDs. */
  executionId?: string | undefined;
  evaluationId?: string | undefined;
  exampleId?: string | undefined;
  /** UUID; with `spanId` for a step, or null for the trace itself. Undefined: both. */
  traceId?: string | undefined;
  spanId?: string | null | undefined;
  conversationId?: string | undefined;
  /** Only scores of this kind. Without it, scores of traces and conversations are left out: callers may not know them. */
  subject?: 'trace' | 'conversation' | undefined;
  source?: ScoreSource | undefined;
  rule?: string | undefined;
  promptName?: string | undefined;
  /** Stored at or after this time. */
  since?: Date | undefined;
  /** Stored before this time. */
  until?: Date | undefined;
}

/** Whether the subject of a score exists: a deleted evaluation disappears immediately, and its scores later. */
export const hasSubject = (eb: ExpressionBuilder<Tables, 'scores'>): Expression<SqlBool> =>
  eb.or([
    eb('scores.evaluation_id', 'is', null),
    eb.exists(eb.selectFrom('evaluations as e').select('e.id').whereRef('e.id', '=', 'scores.evaluation_id')),
  ]);

/** Scores, newest first: a page of at most `limit` before the score `before`. */
export function listScores(
  query: Query,
  filter: ScoreFilter,
  limit: number,
  before: { createdAt: Date; id: string } | undefined,
): Promise<Page<ScoreRow & { bytes: number }>> {
  const { name, executionId, evaluationId, exampleId, traceId, spanId, conversationId } = filter;
  const { subject, source, rule, promptName, since, until } = filter;
  const ofRuns = (traceId ?? conversationId ?? subject) === undefined;
  return selectPage(
    query,
    {
      select: (db) =>
        db
          .selectFrom('scores')
          .select([...SCORE_COLUMNS, 'bytes'])
          .where((eb) =>
            eb.and([
              hasSubject(eb),
              ...given(name, (value) => eb('name', '=', value)),
              ...given(executionId, (value) => eb('execution_id', '=', value)),
              ...given(evaluationId, (value) => eb('evaluation_id', '=', value)),
              ...given(exampleId, (value) => eb('example_id', '=', value)),
              ...given(traceId, (value) => eb('trace_id', '=', value)),
              ...given(spanId, (value) => eb('span_id', value === null ? 'is' : '=', value)),
              ...(ofRuns ? [eb('trace_id', 'is', null), eb('conversation_id', 'is', null)] : []),
              ...given(subject, (of) => eb(`${of}_id`, 'is not', null)),
              ...given(conversationId, (value) => eb('conversation_id', '=', value)),
              ...given(source, (value) => eb('source', '=', value)),
              ...given(rule, (value) => eb('rule', '=', value)),
              ...given(promptName, (value) => eb('prompt_name', '=', value)),
              ...given(since, (value) => eb('created_at', '>=', value)),
              ...given(until, (value) => eb('created_at', '<', value)),
              ...given(before, ({ createdAt, id }) =>
                eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(createdAt, id)),
              ),
            ]),
          ),
      orderBy: [
        ['created_at', 'desc'],
        ['id', 'desc'],
      ],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
  );
}

const EXPORT_PAGE = 1_000;

/** All scores that match a filter, page by page. Holds no connection between pages. */
export async function* eachScorePage(query: Query, filter: ScoreFilter): AsyncGenerator<ScoreRow[], void, undefined> {
  let before: { createdAt: Date; id: string } | undefined;
  for (;;) {
    const { rows, more } = await listScores(query, filter, EXPORT_PAGE, before);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!more || last === undefined) return;
    before = { createdAt: last.created_at, id: last.id };
  }
}

/** The newest scores of a subject. */
export const scoresOf = async (
  query: Query,
  subject: Pick<ScoreFilter, 'executionId' | 'evaluationId' | 'exampleId' | 'traceId' | 'spanId' | 'conversationId'>,
): Promise<ScoreRow[]> => (await listScores(query, subject, SHOWN_SCORES, undefined)).rows;

/** The newest value of each score name for examples of an evaluation, by example and name. Text scores are omitted, because they may be long. */
export async function valuesOfExamples(
  query: Query,
  evaluationId: string,
  exampleIds: readonly string[],
): Promise<Map<string, Map<string, ScoreValue>>> {
  const rows = await query((db) =>
    db
      .selectFrom('scores')
      .select(['example_id', 'name', 'data_type', 'number', 'text'])
      .distinctOn(['example_id', 'name'])
      .where('evaluation_id', '=', evaluationId)
      .where(sql<boolean>`example_id = any(${exampleIds}::text[])`)
      .where('data_type', '<>', 'text')
      .orderBy('example_id')
      .orderBy('name')
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
  );
  return new Map(
    [...Map.groupBy(rows, ({ example_id: id }) => id ?? '')].map(([id, values]) => [
      id,
      new Map(values.map((row) => [row.name, scoreValueOf(row)])),
    ]),
  );
}

/** The maximum number of score names that an evaluation shows as columns. */
const MAX_NAMES = 100;

/** The score names of the examples of an evaluation, in order, without text scores. */
export async function scoreNamesOf(query: Query, evaluationId: string): Promise<string[]> {
  const rows = await query((db) =>
    db
      .selectFrom('scores')
      .select('name')
      .distinct()
      .where('evaluation_id', '=', evaluationId)
      .where('data_type', '<>', 'text')
      .orderBy('name')
      .limit(MAX_NAMES),
  );
  return rows.map(({ name }) => name);
}

/**
 * Deletes a score, and removes it from the numbers of a release that it counted for.
 * @returns it as it was
 * @throws ApiError `not_found`
 */
export function deleteScore(db: WorkspaceDatabase, id: string): Promise<ScoreRow> {
  return db.transaction(async (query) => {
    const [row] = await query((own) =>
      own
        .deleteFrom('scores')
        .where('id', '=', id)
        .returning([...SCORE_COLUMNS, 'release_id', 'release_stage', 'arm', 'subject_at']),
    );
    if (row === undefined) throw notFound('This score');
    const { release_id: releaseId, release_stage: stage, arm, subject_at: createdAt, ...score } = row;
    if (releaseId !== null && stage !== null && arm !== null && score.number !== null) {
      const { number } = score;
      const name = score.trace_id === null ? score.name : `${TRACE}${score.name}`;
      const sums = { count: -1, total: -number, squares: -number * number };
      await query((own) =>
        own
          .insertInto('release_score_entries')
          .values({ release_id: releaseId, stage, arm, created_at: createdAt, name, ...sums }),
      );
    }
    await recordChange(query, 'score.deleted', publicId('score', id), { name: score.name, source: score.source });
    return score;
  });
}
