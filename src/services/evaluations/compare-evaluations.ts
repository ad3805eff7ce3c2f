import type { Query } from '../../db/database.ts';
import { type ComparedExample, compareRuns, type RunComparison } from '../../domain/comparison.ts';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { getEvaluation } from './evaluations.ts';

/** Only what a comparison needs: texts of 100,000 examples would not fit into memory, their scores do. */
const SCORES = {
  text: `select r.example_key as key, coalesce(r.score, 0) as score, r.status = 'failed' as failed,
           (select coalesce(jsonb_object_agg(s.key, s.value->'score'), '{}') from jsonb_each(r.scores) s) as scores
         from evaluations e join evaluation_results r on r.evaluation_id = e.id
         where e.workspace_id = $1 and e.id = $2 order by r.seq`,
};

async function loadRun(query: Query, id: string | undefined) {
  const run = await getEvaluation(query, id);
  const publicRunId = publicId('evaluation', run.id);
  if (run.status !== 'completed')
    throw new ApiError('invalid_state', `${publicRunId} is ${run.status}: only completed evaluations can be compared.`);
  const examples = await query<ComparedExample>(SCORES, [run.id]);
  return { id: publicRunId, evaluators: run.evaluators.map(({ name }) => name), examples };
}

/**
 * What changed from one completed run to another, example by example, and whether it is more than noise.
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function compareEvaluations(
  query: Query,
  before: string | undefined,
  after: string | undefined,
): Promise<RunComparison> {
  return compareRuns(await loadRun(query, before), await loadRun(query, after));
}
