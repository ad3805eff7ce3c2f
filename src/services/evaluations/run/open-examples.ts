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
  /** What the example and its output take as text. */
  bytes: number;
}

/** What the examples of a page take as text; a larger one has a page to itself. */
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

/** PostgreSQL tells the size of a text without reading it. Few examples have tool calls already. */
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

/** The first of them that are not too large together. */
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

/** Whether examples of a run still have something to do. One that is not `running` has none. */
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
 * Examples from `from` until before `to` that still have something to do, in order: `limit` at most, and at most
 * {@link MAX_PAGE_BYTES} of them. None only where there is none.
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
 * Examples by their numbers, whether they have a result or not, in order: at most {@link MAX_PAGE_BYTES} of them.
 * @param seqs the rest is to be asked for again
 */
export async function loadExamplesOf(
  query: Query,
  evaluationId: string,
  { examplesId }: Pick<RunSpec, 'examplesId'>,
  seqs: number[],
): Promise<OpenExample[]> {
  return (await query(LOAD_GIVEN, { evaluationId, examplesId, seqs })).map(toExample);
}
