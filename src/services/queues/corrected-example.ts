import type { Query } from '../../db/database.ts';
import { notFound } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { ReviewedSubject } from '../../domain/scores/score-subject.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { exampleOfTrace } from '../traces/add-to-dataset.ts';

/** The fields that an example takes from the reviewed subject. */
export interface ReviewedExample {
  variables: Record<string, JsonValue>;
  /** Its origin, in the format of examples created from executions. */
  metadata: Record<string, JsonValue>;
}

/** @throws ApiError `not_found` */
export async function exampleOf(query: Query, subject: ReviewedSubject): Promise<ReviewedExample> {
  if ('executionId' in subject) {
    const [row] = await query((db) =>
      db
        .selectFrom('executions')
        .select(['variables', 'prompt_name', 'prompt_version', 'model', 'created_at'])
        .where('id', '=', subject.executionId),
    );
    if (row === undefined) throw notFound('This execution');
    const { variables, created_at: createdAt, ...about } = row;
    const executionId = publicId('execution', subject.executionId);
    return { variables, metadata: { execution_id: executionId, ...about, created_at: createdAt.toISOString() } };
  }
  if ('traceId' in subject) {
    const { variables, metadata = {} } = await exampleOfTrace(query, subject);
    return { variables, metadata };
  }
  const [row] = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .select(['r.variables', 'e.prompt_name', 'e.prompt_version', 'e.model', 'r.created_at'])
      .where('e.id', '=', subject.evaluationId)
      .where('r.example_key', '=', subject.exampleId),
  );
  if (row === undefined) throw notFound('This example of the evaluation');
  const { variables, created_at: createdAt, ...about } = row;
  const evaluationId = publicId('evaluation', subject.evaluationId);
  return { variables, metadata: { evaluation_id: evaluationId, ...about, created_at: createdAt.toISOString() } };
}
