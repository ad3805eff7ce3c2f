import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { type Builder, type Parameters, prepared, type RowOf } from '../../../db/statement.ts';
import type { ToolCall } from '../../../domain/prompts/messages.ts';
import type { JsonValue } from '../../../domain/text/json.ts';
import type { RunRef, RunSpec } from '../creation/run-spec.ts';

/** An example that has no final result yet. */
export interface OpenExample {
  seq: number;
  key: string;
  variables: Record<string, JsonValue>;
  /** Undefined if nothing is expected; JSON null is a value. */
  expected: JsonValue | undefined;
  metadata: Record<string, JsonValue> | null;
  /** The model's output, if it exists already. */
  output: string | null;
  /** The tool calls of the output. */
  toolCalls: ToolCall[];
  modelMs: number | null;
  /** Decimal; null if unknown. */
  costUsd: string | null;
  /** The size of the example and its output as text. */
  bytes: number;
}

/** The maximum size of the examples of a page as text; a larger example fills a page. */
export const MAX_PAGE_BYTES = 512 * 1024;

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

/** PostgreSQL knows the size of a text without reading it. Few examples already have tool calls. */
const BYTES = sql<number>`e.bytes + coalesce(octet_length(r.output), 0) + coalesce(octet_length(r.tool_calls::text), 0)`;

const selectExamples = (
  db: Builder,
  { evaluationId, examplesId }: Parameters<Pick<OpenRange, 'evaluationId' | 'examplesId'>>,
) =>
  db
    .selectFrom('dataset_examples as e')
    .leftJoin('evaluation_results as r', (join) =>
      join.onRef('r.seq', '=', 'e.seq').on('r.evaluation_id', '=', evaluationId),
    )
    .select([
      'e.seq',
      'e.example_key as key',
      'e.variables',
      'e.expected',
      'e.metadata',
      'r.output',
      'r.tool_calls as toolCalls',
    ])
    .select(['r.model_ms as modelMs', COST.as('costUsd'), BYTES.as('bytes')])
    .select((eb) => eb('e.expected', 'is not', null).as('hasExpected'))
    .where('e.dataset_version_id', '=', examplesId);

const selectOpen = (db: Builder, { evaluationId, examplesId, from, to, round, limit }: Parameters<OpenRange>) =>
  selectExamples(db, { evaluationId, examplesId })
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
    .limit(limit);

/** The first examples that together are not too large. */
const selectPage = (db: Builder, examples: ReturnType<typeof selectExamples>) =>
  db
    .selectFrom(
      db
        .selectFrom(examples.as('open'))
        .selectAll()
        .select(sql<number>`sum(bytes) over (order by seq)`.as('until'))
        .as('page'),
    )
    .select([
      'seq',
      'key',
      'variables',
      'expected',
      'metadata',
      'output',
      'toolCalls',
      'modelMs',
      'costUsd',
      'hasExpected',
    ])
    .select('bytes')
    .where((eb) => eb.or([eb('until', '<=', MAX_PAGE_BYTES), eb('until', '=', eb.ref('bytes'))]))
    .orderBy('seq');

const LOAD_OPEN = prepared<OpenRange>()((db, range) => selectPage(db, selectOpen(db, range)));

const LOAD_RANGE = prepared<RunRef>()((db, { evaluationId, round }) =>
  db
    .selectFrom('evaluations')
    .select(['examples_id as examplesId', 'examples_total as to'])
    .where('id', '=', evaluationId)
    .where('retries', '=', round)
    .where('status', '=', 'running'),
);

/** Whether a run has examples with work left. A run that is not `running` has none. */
export async function hasOpenExamples(query: Query, run: RunRef): Promise<boolean> {
  const [range] = await query(LOAD_RANGE, run);
  if (range === undefined) return false;
  return (await query(LOAD_OPEN, { ...run, ...range, from: 0, limit: 1 })).length > 0;
}

type GivenExamples = Pick<OpenRange, 'evaluationId' | 'examplesId'> & { seqs: number[] };

const LOAD_GIVEN = prepared<GivenExamples>()((db, { evaluationId, examplesId, seqs }) =>
  selectPage(
    db,
    selectExamples(db, { evaluationId, examplesId })
      .where('e.seq', '=', sql<number>`any(${seqs}::integer[])`)
      .orderBy('e.seq'),
  ),
);

const toExample = ({ hasExpected, expected, toolCalls, ...row }: RowOf<typeof LOAD_OPEN>): OpenExample => ({
  ...row,
  expected: hasExpected ? expected : undefined,
  toolCalls: toolCalls ?? [],
});

/**
 * Examples with work left from `from` up to, but excluding, `to`, in order: at most `limit`, and at most {@link MAX_PAGE_BYTES}.
 * Empty only if there are none.
 */
export async function loadOpenExamples(
  query: Query,
  evaluationId: string,
  { examplesId, round }: Pick<RunSpec, 'examplesId' | 'round'>,
  from: number,
  to: number,
  limit: number,
): Promise<OpenExample[]> {
  return (await query(LOAD_OPEN, { evaluationId, examplesId, from, to, round, limit })).map(toExample);
}

/**
 * Examples by number, with or without a result, in order: at most {@link MAX_PAGE_BYTES}.
 * @param seqs request the remaining ones again
 */
export async function loadExamplesOf(
  query: Query,
  evaluationId: string,
  { examplesId }: Pick<RunSpec, 'examplesId'>,
  seqs: number[],
): Promise<OpenExample[]> {
  return (await query(LOAD_GIVEN, { evaluationId, examplesId, seqs })).map(toExample);
}
