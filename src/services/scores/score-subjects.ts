import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { anyOf, unnestOf } from '../../db/sql.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { NO_VERSION } from '../../domain/evaluations/code-run.ts';
import { publicId } from '../../domain/ids.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import { MAX_SCORES_OF_SUBJECT } from '../../domain/scores/score.ts';
import { type ScoreSubject, type SubjectIds, subjectIds, subjectKey } from '../../domain/scores/score-subject.ts';

/** A subject, and the columns copied from it. */
export interface SubjectColumns extends SubjectIds {
  prompt_name: string | null;
  prompt_version: number | null;
  label: string | null;
  model: string | null;
  release_id: string | null;
  arm: Arm | null;
  release_stage: number | null;
  subject_at: Date;
}

/**
 * Finds subjects by their keys, and prevents their deletion until the transaction ends. Traces and conversations can be scored
 * before they exist.
 * @throws ApiError `not_found` naming the first one that does not exist
 */
export async function holdSubjects(
  query: Query,
  subjects: readonly ScoreSubject[],
  at: (index: number) => string,
): Promise<Map<string, SubjectColumns>> {
  const [executions, examples] = [await holdExecutions(query, subjects), await holdExamples(query, subjects)];
  const found = new Map([...executions, ...examples, ...(await holdTraces(query, subjects))]);
  for (const [index, subject] of subjects.entries())
    if (!found.has(subjectKey(subject))) throw notFound(`${at(index)}subject: ${nameOf(subject)}`);
  return found;
}

function nameOf(subject: ScoreSubject): string {
  if ('executionId' in subject) return `the execution ${publicId('execution', subject.executionId)}`;
  if (!('exampleId' in subject)) throw new Error('A trace need not exist to be scored.');
  return `the example "${subject.exampleId}" of the evaluation ${publicId('evaluation', subject.evaluationId)}`;
}

/** Traces and conversations have no prompt. */
const OF_NO_PROMPT = {
  prompt_name: null,
  prompt_version: null,
  label: null,
  model: null,
  release_id: null,
  arm: null,
  release_stage: null,
};

/** The arms of releases that the executions of traces are of. A score counts for a release if there is only one. */
async function findArms(query: Query, traces: readonly string[]) {
  const rows =
    traces.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('executions')
            .select(['trace_id', 'release_id', 'release_arm as arm', 'release_stage'])
            .distinct()
            .where('trace_id', '=', anyOf(traces))
            .where('release_stage', 'is not', null),
        );
  const arms = [...Map.groupBy(rows, ({ trace_id: id }) => id ?? '').values()].filter((each) => each.length === 1);
  return new Map(arms.flat().map(({ trace_id: id, ...arm }) => [id ?? '', arm]));
}

/** Locks the traces that exist; others may arrive later, as conversations may. */
async function holdTraces(query: Query, subjects: readonly ScoreSubject[]): Promise<Map<string, SubjectColumns>> {
  const ids = [...new Set(subjects.flatMap((subject) => ('traceId' in subject ? [subject.traceId] : [])))];
  const rows =
    ids.length === 0
      ? []
      : await query((db) =>
          db.selectFrom('traces').select(['id', 'started_at']).where('id', '=', anyOf(ids)).orderBy('id').forKeyShare(),
        );
  const startOf = new Map(rows.map(({ id, started_at: at }) => [id, at]));
  const arms = await findArms(query, ids);
  const now = new Date();
  return new Map(
    subjects.flatMap((subject) => {
      if (!('traceId' in subject || 'conversationId' in subject)) return [];
      const at = 'traceId' in subject ? startOf.get(subject.traceId) : undefined;
      const arm = 'traceId' in subject && subject.spanId === null ? arms.get(subject.traceId) : undefined;
      return [[subjectKey(subject), { ...subjectIds(subject), ...OF_NO_PROMPT, ...arm, subject_at: at ?? now }]];
    }),
  );
}

async function holdExecutions(query: Query, subjects: readonly ScoreSubject[]): Promise<Map<string, SubjectColumns>> {
  const ids = [...new Set(subjects.flatMap((subject) => ('executionId' in subject ? [subject.executionId] : [])))];
  if (ids.length === 0) return new Map();
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select(['id', 'prompt_name', 'prompt_version', 'label', 'model', 'release_id', 'release_arm', 'release_stage'])
      .select('created_at')
      .where(sql<boolean>`id = any(${ids}::uuid[])`)
      .orderBy('id')
      .forKeyShare(),
  );
  return new Map(
    rows.map(({ id, release_arm: arm, created_at: subjectAt, ...copied }) => [
      id,
      { ...subjectIds({ executionId: id }), ...copied, arm, subject_at: subjectAt },
    ]),
  );
}

async function holdExamples(query: Query, subjects: readonly ScoreSubject[]): Promise<Map<string, SubjectColumns>> {
  const given = [
    ...new Map(
      subjects.flatMap((subject) => ('exampleId' in subject ? [[subjectKey(subject), subject]] : [])),
    ).values(),
  ];
  if (given.length === 0) return new Map();
  const evaluationIds = [...new Set(given.map(({ evaluationId }) => evaluationId))];
  const evaluations = await query((db) =>
    db
      .selectFrom('evaluations')
      .select(['id', 'prompt_name', 'prompt_version', 'model', 'created_at'])
      .where(sql<boolean>`id = any(${evaluationIds}::uuid[])`)
      .orderBy('id')
      .forKeyShare(),
  );
  const byId = new Map(evaluations.map((evaluation) => [evaluation.id, evaluation]));
  const keys = {
    evaluation_id: ['uuid', given.map(({ evaluationId }) => evaluationId)],
    example_id: ['text', given.map(({ exampleId }) => exampleId)],
  } as const;
  const results = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .innerJoin(unnestOf('given', keys), (join) =>
        join.onRef('given.evaluation_id', '=', 'e.id').onRef('given.example_id', '=', 'r.example_key'),
      )
      .select(['given.evaluation_id', 'given.example_id']),
  );
  return new Map(
    results.flatMap(({ evaluation_id: id, example_id: exampleId }) => {
      const evaluation = byId.get(id);
      if (evaluation === undefined) return [];
      const { id: _, created_at: subjectAt, prompt_version: version, ...copied } = evaluation;
      const columns = {
        ...subjectIds({ evaluationId: id, exampleId }),
        ...OF_NO_PROMPT,
        ...copied,
        prompt_version: version === NO_VERSION ? null : version,
        subject_at: subjectAt,
      };
      return [[subjectKey({ evaluationId: id, exampleId }), columns] as const];
    }),
  );
}

/** @throws ApiError `invalid_request` if a subject has more scores than allowed */
export async function requireFewScores(query: Query, subjects: readonly SubjectColumns[]): Promise<void> {
  const executions = subjects.flatMap(({ execution_id: id }) => (id === null ? [] : [id]));
  const examples = subjects.flatMap(({ evaluation_id: id, example_id: key }) =>
    id === null || key === null ? [] : [{ id, key }],
  );
  const traces = subjects.flatMap(({ trace_id: id }) => (id === null ? [] : [id]));
  const conversations = subjects.flatMap(({ conversation_id: id }) => (id === null ? [] : [id]));
  const tooMany = (count: number) => sql<boolean>`count(*) > ${sql.lit(count)}`;
  const crowded = [
    ...(executions.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('scores')
            .select(sql<string>`execution_id::text`.as('subject'))
            .where(sql<boolean>`execution_id = any(${executions}::uuid[])`)
            .groupBy('execution_id')
            .having(tooMany(MAX_SCORES_OF_SUBJECT))
            .limit(1),
        )),
    ...(examples.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('scores as s')
            .innerJoin(
              unnestOf('given', {
                evaluation_id: ['uuid', examples.map(({ id }) => id)],
                example_id: ['text', examples.map(({ key }) => key)],
              }),
              (join) =>
                join
                  .onRef('given.evaluation_id', '=', 's.evaluation_id')
                  .onRef('given.example_id', '=', 's.example_id'),
            )
            .select('s.example_id as subject')
            .groupBy(['s.evaluation_id', 's.example_id'])
            .having(tooMany(MAX_SCORES_OF_SUBJECT))
            .limit(1),
        )),
    ...(traces.length + conversations.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('scores')
            .select(sql<string>`coalesce(trace_id::text, conversation_id)`.as('subject'))
            .where((eb) =>
              eb.or([
                eb('trace_id', '=', anyOf(traces)),
                sql<boolean>`conversation_id = any(${conversations}::text[])`,
              ]),
            )
            .groupBy(['trace_id', 'span_id', 'conversation_id'])
            .having(tooMany(MAX_SCORES_OF_SUBJECT))
            .limit(1),
        )),
  ];
  if (crowded.length > 0)
    throw new ApiError(
      'invalid_request',
      `A subject has at most ${MAX_SCORES_OF_SUBJECT} scores: delete some, or replace scores by id.`,
    );
}
