import type { Query } from '../../../db/database.ts';
import { prepared } from '../../../db/statement.ts';
import { readableOutput } from '../../../domain/text/readable-messages.ts';

const LOAD_OUTPUT = prepared<{ evaluationId: string; otherId: string; seq: number }>()(
  (db, { evaluationId, otherId, seq }) =>
    db
      .selectFrom('evaluations as own')
      .innerJoin('evaluations as other', (join) =>
        join
          .onRef('other.workspace_id', '=', 'own.workspace_id')
          .onRef('other.examples_hash', '=', 'own.examples_hash'),
      )
      .innerJoin('evaluation_results as r', 'r.evaluation_id', 'other.id')
      .select(['r.output', 'r.tool_calls as toolCalls'])
      .where('own.id', '=', evaluationId)
      .where('other.id', '=', otherId)
      .where('r.seq', '=', seq)
      .where('r.status', '=', 'scored'),
);

/** The output that another evaluation of the same examples has for one of them, as text; undefined if it has none. */
export async function loadOutput(
  query: Query,
  evaluationId: string,
  otherId: string,
  seq: number,
): Promise<string | undefined> {
  const [row] = await query(LOAD_OUTPUT, { evaluationId, otherId, seq });
  return row === undefined || row.output === null ? undefined : readableOutput(row.output, row.toolCalls ?? []);
}
