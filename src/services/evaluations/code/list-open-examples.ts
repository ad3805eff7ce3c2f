import type { WorkspaceDatabase } from '../../../db/database.ts';
import { getEvaluation } from '../evaluations.ts';
import { loadOpenExamples, type OpenExample } from '../run/open-examples.ts';

/**
 * Examples without a result, in order, starting at `from`: at most `limit`, fewer if they are large.
 * @returns `next`: the remaining examples come after this `seq`; undefined if none remain
 * @throws ApiError `not_found`
 */
export async function listOpenExamples(
  db: WorkspaceDatabase,
  id: string,
  from: number,
  limit: number,
): Promise<{ examples: OpenExample[]; next: number | undefined }> {
  const run = await getEvaluation(db.query, id);
  const [row] = await db.query((own) => own.selectFrom('evaluations').select('examples_id').where('id', '=', id));
  const spec = { examplesId: row?.examples_id ?? null, round: run.retries };
  const examples = await loadOpenExamples(db.unbound.query, id, spec, from, run.examples_total, limit);
  return { examples, next: examples.at(-1)?.seq };
}
