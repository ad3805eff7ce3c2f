import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import { executionStates } from '../../../domain/execution-states.ts';

const NEWEST_RUNS = 100;

interface Called {
  promptName: string;
  /** Full name. */
  model: string;
}

const NEWEST_EVALUATION = prepared<Called>()((db, { promptName, model }) =>
  db
    .selectFrom('evaluations')
    .select('summary')
    .where('prompt_name', '=', promptName)
    .where('model', '=', model)
    .where('source_evaluation_id', 'is', null)
    .where('reuse_max_age', 'is', null)
    .where(inStates(evaluationStates, ['completed']))
    .orderBy('id', 'desc')
    .limit(1),
);

const NEWEST_EXECUTIONS = prepared<Called>()((db, { promptName, model }) =>
  db
    .selectFrom(
      db
        .selectFrom('executions')
        .select('tokens_output')
        .where('prompt_name', '=', promptName)
        .where('model', '=', model)
        .where('reused_from', 'is', null)
        .where(inStates(executionStates, ['completed']))
        .orderBy('id', 'desc')
        .limit(NEWEST_RUNS)
        .as('newest'),
    )
    .select([sql<number | null>`avg(tokens_output)::float8`.as('mean'), sql<number>`count(*)::int`.as('count')]),
);

/** The number of tokens in a prompt's past responses. */
export interface PastOutput {
  meanTokens: number;
  /** What the mean was calculated from, in words. */
  of: string;
}

/** The output of the newest evaluation of the prompt on this model, or of its newest executions; undefined if there are none. */
export async function pastOutput(query: Query, called: Called): Promise<PastOutput | undefined> {
  const [evaluation] = await query(NEWEST_EVALUATION, called);
  const { evaluated = 0, failed = 0, tokens } = evaluation?.summary ?? {};
  if (tokens !== undefined && tokens.output > 0 && evaluated > failed)
    return { meanTokens: tokens.output / (evaluated - failed), of: 'its newest evaluation on this model' };
  const [executions] = await query(NEWEST_EXECUTIONS, called);
  const { mean = null, count = 0 } = executions ?? {};
  if (mean === null || mean === 0) return undefined;
  return {
    meanTokens: mean,
    of: count === 1 ? 'its newest run on this model' : `its newest ${count} runs on this model`,
  };
}
