import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { prepared } from '../../db/statement.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/messages.ts';
import type { RunSpec } from './run-spec.ts';

/** An example that has no final result yet. */
export interface OpenExample {
  seq: number;
  variables: Record<string, JsonValue>;
  /** Undefined where none was given; JSON null is a value. */
  expected: JsonValue | undefined;
  metadata: Record<string, JsonValue> | null;
  /** The model's output, where it is there already. */
  output: string | null;
  /** With it. */
  toolCalls: ToolCall[];
  modelMs: number | null;
  /** Decimal; null where it is not known. */
  costUsd: string | null;
}

interface OpenRange {
  evaluationId: string;
  examplesId: string | null;
  /** Inclusive. */
  from: number;
  /** Exclusive. */
  to: number;
  round: number;
  limit: number;
}

const COST = sql<string | null>`coalesce(r.source_cost, case when r.assumed_cost is null then r.cost_amount end)::text`;

const LOAD_OPEN = prepared<OpenRange>()((db, { evaluationId, examplesId, from, to, round, limit }) =>
  db
    .selectFrom('dataset_examples as e')
    .leftJoin('evaluation_results as r', (join) =>
      join.onRef('r.seq', '=', 'e.seq').on('r.evaluation_id', '=', evaluationId),
    )
    .select(['e.seq', 'e.variables', 'e.expected', 'e.metadata', 'r.output', 'r.tool_calls as toolCalls'])
    .select(['r.model_ms as modelMs', COST.as('costUsd')])
    .select((eb) => eb('e.expected', 'is not', null).as('hasExpected'))
    .where('e.dataset_version_id', '=', examplesId)
    .where('e.seq', '>=', from)
    .where('e.seq', '<', to)
    .where((eb) =>
      eb.or([
        eb('r.seq', 'is', null),
        eb('r.status', '=', 'answered'),
        eb.and([eb('r.status', '=', 'failed'), eb('r.round', '<', round)]),
      ]),
    )
    .orderBy('e.seq')
    .limit(limit),
);

/** Examples from `from` until before `to` that still have something to do, in order, `limit` at most. */
export async function loadOpenExamples(
  query: Query,
  evaluationId: string,
  { examplesId, round }: Pick<RunSpec, 'examplesId' | 'round'>,
  from: number,
  to: number,
  limit: number,
): Promise<OpenExample[]> {
  const rows = await query(LOAD_OPEN, { evaluationId, examplesId, from, to, round, limit });
  return rows.map(({ hasExpected, expected, toolCalls, ...row }) => ({
    ...row,
    expected: hasExpected ? expected : undefined,
    toolCalls: toolCalls ?? [],
  }));
}
