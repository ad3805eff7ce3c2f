import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { anyOf, unnestOf } from '../../db/sql.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import type { Example } from '../../domain/evaluations/example.ts';
import { publicId } from '../../domain/ids.ts';
import { subjectKey } from '../../domain/scores/score-subject.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { DEFINITIONS } from '../scores/definitions.ts';
import { type PeopleQuestion, type PeopleSay, readPeople } from '../scores/judge-agreement.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { addExamples, type DatasetChange } from './add-examples.ts';
import { storeExamples } from './inline-examples.ts';

/** Which scores by people become examples. */
export interface ScoreSelection extends PeopleQuestion {
  /** The newest ones. */
  limit: number;
}

/**
 * Adds what people scored to a dataset, as examples for a judge: the variables `input` and `output`, and the value that people agree
 * on. Later scores of the same subject replace its example. Runs in the caller's transaction, like {@link addExamples}.
 * @throws ApiError `not_found`, `invalid_request` if it is a score in text, or nothing matches
 */
export async function createFromScores(
  query: Query,
  quotas: Quotas,
  name: string,
  { limit, ...question }: ScoreSelection,
): Promise<DatasetChange> {
  const { data_type: type } = await DEFINITIONS.get(query, { name: question.score });
  if (type === 'text')
    throw invalidField('score', 'is a score in text: only numbers, booleans and categories can be expected');
  const { people } = await readPeople(query, question, type);
  const agreed = [...people.values()]
    .filter(({ subject, consensus }) => consensus !== null && ('executionId' in subject || 'exampleId' in subject))
    .slice(0, limit);
  const answers = new Map([...(await readExecutions(query, agreed)), ...(await readResults(query, agreed))]);
  const examples = agreed.flatMap(({ subject, consensus, reviewers }): Example[] => {
    const answer = answers.get(subjectKey(subject));
    if (answer === undefined || consensus === null) return [];
    const { id, variables, metadata } = answer;
    const expected = type === 'boolean' ? consensus === 1 : consensus;
    return [{ id, variables, expected, metadata: { ...metadata, score: question.score, reviewers } }];
  });
  if (examples.length === 0)
    throw new ApiError(
      'invalid_request',
      `No output has a score "${question.score}" that people agree on: have people score executions, or widen the selection.`,
    );
  const { examplesId } = await storeExamples(query, quotas, examples);
  return addExamples(query, quotas, name, examplesId);
}

type Answers = [string, Required<Pick<Example, 'id' | 'variables' | 'metadata'>>][];

async function readExecutions(query: Query, people: readonly PeopleSay[]): Promise<Answers> {
  const ids = people.flatMap(({ subject }) => ('executionId' in subject ? [subject.executionId] : []));
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select(['id', 'variables', 'output', 'prompt_name', 'prompt_version', 'model'])
      // A recorded run may have no variables.
      .select(sql<JsonValue>`coalesce(input_messages, to_jsonb(input))`.as('messages'))
      .where('id', '=', anyOf(ids))
      .where('output', 'is not', null),
  );
  return rows.map(({ id: uuid, variables, messages, output, ...about }) => {
    const id = publicId('execution', uuid);
    const input = Object.keys(variables).length > 0 ? variables : messages;
    return [uuid, { id, variables: { input, output }, metadata: { execution_id: id, ...about } }];
  });
}

async function readResults(query: Query, people: readonly PeopleSay[]): Promise<Answers> {
  const subjects = people.flatMap(({ subject }) => ('exampleId' in subject ? [subject] : []));
  const given = unnestOf('given', {
    evaluation_id: ['uuid', subjects.map(({ evaluationId }) => evaluationId)],
    example_id: ['text', subjects.map(({ exampleId }) => exampleId)],
  });
  const rows = await query((db) =>
    db
      .selectFrom('evaluations as e')
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
      .innerJoin(given, (join) =>
        join.onRef('given.evaluation_id', '=', 'e.id').onRef('given.example_id', '=', 'r.example_key'),
      )
      .select(['e.id', 'r.example_key', 'r.variables', 'r.output', 'e.prompt_name', 'e.prompt_version', 'e.model'])
      .where('r.output', 'is not', null),
  );
  return rows.map(({ id: uuid, example_key: example, variables, output, ...about }) => {
    const evaluation = publicId('evaluation', uuid);
    const value = {
      variables: { input: variables as JsonValue, output },
      metadata: { evaluation_id: evaluation, ...about },
    };
    // An id has at most 200 characters, as the key itself.
    return [
      subjectKey({ evaluationId: uuid, exampleId: example }),
      { id: `${evaluation}:${example}`.slice(0, 200), ...value },
    ];
  });
}
