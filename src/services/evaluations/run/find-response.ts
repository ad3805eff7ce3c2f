import { sql } from 'kysely';
import { bindWorkspace, type Query } from '../../../db/database.ts';
import { ago } from '../../../db/sql.ts';
import { inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import { executionStates } from '../../../domain/execution-states.ts';
import { publicId } from '../../../domain/ids.ts';
import { NO_TOKENS } from '../../../domain/usage.ts';
import type { FinishReason } from '../../../models/model.ts';
import type { ResultToStore } from './results-store.ts';

/** A call to be made, and the maximum age of a response to reuse for it. */
export interface WantedResponse {
  workspaceId: string;
  callHash: Buffer;
  model: string;
  maxAgeMs: number;
}

type Wanted = Omit<WantedResponse, 'workspaceId'>;

const IN_RESULTS = prepared<Wanted>()((db, { callHash, model, maxAgeMs }) =>
  db
    .selectFrom('evaluations as e')
    .innerJoin('evaluation_results as r', 'r.evaluation_id', 'e.id')
    .select(['e.id', 'r.output', 'r.tool_calls', 'r.finish_reason', 'r.model_ms'])
    .select(sql<string | null>`case when r.assumed_cost is null then r.cost_amount::text end`.as('cost'))
    .where('r.call_hash', '=', callHash)
    .where('r.model', '=', model)
    .where('r.output', 'is not', null)
    .where('r.created_at', '>=', ago(maxAgeMs))
    .orderBy('r.created_at', 'desc')
    .limit(1),
);

const IN_EXECUTIONS = prepared<Wanted>()((db, { callHash, model, maxAgeMs }) =>
  db
    .selectFrom('executions as e')
    .select(['e.id', 'e.output', 'e.tool_calls', 'e.finish_reason', 'e.model_ms'])
    .select(sql<string | null>`e.cost_amount::text`.as('cost'))
    .where('e.call_hash', '=', callHash)
    .where('e.model', '=', model)
    .where(inStates(executionStates, ['completed'], 'e'))
    .where('e.reused_from', 'is', null)
    .where('e.finished_at', '>=', ago(maxAgeMs))
    .orderBy('e.finished_at', 'desc')
    .limit(1),
);

/**
 * The response to the same call, if an evaluation or an execution of this workspace has paid for it, as a result without cost.
 * @param query across workspaces
 */
export async function findResponse(
  query: Query,
  { workspaceId, ...wanted }: WantedResponse,
): Promise<ResultToStore | undefined> {
  const own = bindWorkspace(query, workspaceId);
  const [result] = await own(IN_RESULTS, wanted);
  const [execution] = result === undefined ? await own(IN_EXECUTIONS, wanted) : [];
  const found = result ?? execution;
  if (found === undefined || found.output === null) return undefined;
  return {
    status: 'answered',
    response: {
      output: found.output,
      toolCalls: found.tool_calls ?? [],
      finishReason: (found.finish_reason ?? 'other') as FinishReason,
      tokens: NO_TOKENS,
      cost: { amount: '0', currency: 'USD', pricing: null },
      modelMs: found.model_ms ?? 0,
      providerModel: null,
      model: wanted.model,
      attempts: 0,
    },
    reused: { from: publicId(result === undefined ? 'execution' : 'evaluation', found.id), costUsd: found.cost },
  };
}
