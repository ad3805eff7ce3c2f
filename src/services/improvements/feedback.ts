import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { anyOf } from '../../db/sql.ts';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { ReflectionFeedback } from '../../domain/improvements/reflection.ts';
import { exampleKey, isTrainSide, type Split } from '../../domain/improvements/split.ts';
import { scoreValueOf } from '../../domain/scores/score.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { findExamples } from '../datasets/find-examples.ts';

/** The number of scores to read for each wanted one: some are of inputs that must stay unseen. */
const READ_FOR_EACH = 5;

/** Scores by people of executions and of examples of evaluations, with what was answered: newest first. */
const readScores = (
  query: Query,
  { promptName, ids, limit }: { promptName: string; ids?: readonly string[]; limit: number },
) =>
  query((db) =>
    db
      .selectFrom('scores as s')
      .leftJoin('executions as x', 'x.id', 's.execution_id')
      .leftJoin('evaluations as e', 'e.id', 's.evaluation_id')
      .leftJoin('evaluation_results as r', (join) =>
        join.onRef('r.evaluation_id', '=', 'e.id').onRef('r.example_key', '=', 's.example_id'),
      )
      .select(['s.id', 's.name', 's.data_type', 's.number', 's.text', 's.comment', 's.author'])
      .select(['s.execution_id', 's.evaluation_id', 's.example_id'])
      .select(sql<Record<string, JsonValue>>`coalesce(x.variables, r.variables)`.as('variables'))
      .select(sql<string | null>`coalesce(x.output, r.output)`.as('output'))
      .where('s.prompt_name', '=', promptName)
      .where('s.source', 'in', [sql.lit('person' as const), sql.lit('feedback' as const)])
      .where(sql<SqlBool>`coalesce(x.variables, r.variables) is not null`)
      .$if(ids !== undefined, (rows) => rows.where('s.id', '=', anyOf(ids ?? [])))
      .orderBy('s.created_at', 'desc')
      .orderBy('s.id', 'desc')
      .limit(limit),
  );

type Scored = Awaited<ReturnType<typeof readScores>>[number];

/**
 * Chooses the newest scores by people that a search can learn from: those of inputs that are not in its check or held-out part.
 * @returns UUIDs of scores, and the keys of their inputs in the ledger
 */
export async function chooseFeedback(
  query: Query,
  promptName: string,
  { split, groupBy, limit }: { split: Pick<Split, 'check' | 'held_out'>; groupBy: string | undefined; limit: number },
): Promise<{ scores: string[]; keys: string[] }> {
  const found = await readScores(query, { promptName, limit: limit * READ_FOR_EACH });
  const chosen = found.filter(({ variables }) => isTrainSide({ variables }, split, groupBy)).slice(0, limit);
  return {
    scores: chosen.map(({ id }) => id),
    keys: [...new Set(chosen.map(({ variables }) => exampleKey(variables)))],
  };
}

/** What people said about answers: the scores that still exist, and the answers that they gave instead. */
export async function readFeedback(
  query: Query,
  promptName: string,
  scores: readonly string[],
): Promise<ReflectionFeedback[]> {
  if (scores.length === 0) return [];
  const rows = await readScores(query, { promptName, ids: scores, limit: scores.length });
  const feedback: ReflectionFeedback[] = [];
  for (const row of rows) {
    const { variables, output, name, comment } = row;
    const correction = await readCorrection(query, row);
    feedback.push({ variables, output: output ?? '', score: { name, value: scoreValueOf(row) }, correction, comment });
  }
  return feedback;
}

/** The answer that the reviewer gave instead: it is an example of the dataset that the review named. */
async function readCorrection(query: Query, row: Scored): Promise<JsonValue> {
  const { author, execution_id: execution, evaluation_id: evaluation, example_id: example } = row;
  if (author === null) return null;
  const [review] = await query((db) =>
    db
      .selectFrom('queue_items as i')
      .innerJoin('queue_reviews as q', 'q.item_id', 'i.id')
      .select('q.correction')
      .where('q.reviewer', '=', author)
      .where('q.correction', 'is not', null)
      .$if(execution !== null, (items) => items.where('i.execution_id', '=', execution))
      .$if(execution === null, (items) =>
        items.where('i.evaluation_id', '=', evaluation).where('i.example_id', '=', example),
      )
      .limit(1),
  );
  const correction = review?.correction as { dataset: string; version: number } | null | undefined;
  if (correction == null) return null;
  try {
    const { examplesId } = await findExamples(query, correction.dataset, correction.version);
    const key = execution === null ? (example ?? '') : publicId('execution', execution);
    const [found] = await query((db) =>
      db
        .selectFrom('dataset_examples')
        .select('expected')
        .where('dataset_version_id', '=', examplesId)
        .where('example_key', '=', key),
    );
    return (found?.expected ?? null) as JsonValue;
  } catch (error) {
    // The dataset was deleted.
    if (error instanceof ApiError) return null;
    throw error;
  }
}
