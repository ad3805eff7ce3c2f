import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { containing, given } from '../../db/sql.ts';
import { type Builder, prepared, type RowOf } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import type { Arm } from '../../domain/releases/rollout.ts';
import type { ScoreCondition } from '../../domain/scores/score-condition.ts';
import type { StepStatus } from '../../domain/traces/step.ts';
import { fitsScore } from '../executions/filter.ts';

export const TRACE_COLUMNS = [
  'id',
  'name',
  'status',
  'started_at',
  'ended_at',
  'steps',
  'calls',
  'errors',
  'tokens_input',
  'tokens_output',
  'tokens_cached_input',
  'tokens_reasoning',
  'cost_amount',
  'unpriced_calls',
  'models',
  'tools',
  'agents',
  'prompts',
  'conversation_id',
  'user_id',
  'service',
  'environment',
  'tags',
  'metadata',
  'input',
  'output',
  'incomplete',
  'settle_at',
  'first_day',
  'last_day',
] as const;

const FIND = prepared<{ id: string }>()((db, { id }) =>
  db.selectFrom('traces').select(TRACE_COLUMNS).where('id', '=', id),
);
export type TraceRow = RowOf<typeof FIND>;

/** @param id UUID @throws ApiError `not_found` */
export async function getTrace({ query }: Pick<WorkspaceDatabase, 'query'>, id: string): Promise<TraceRow> {
  const [row] = await query(FIND, { id });
  if (row === undefined) throw notFound('This trace');
  return row;
}

/** Conditions that traces must all match. */
export interface TraceFilter {
  name?: string | undefined;
  conversationId?: string | undefined;
  userId?: string | undefined;
  /** Started at or after this. */
  since?: Date | undefined;
  /** Started before this. */
  until?: Date | undefined;
  status?: StepStatus | undefined;
  promptName?: string | undefined;
  /** A version of `promptName`. */
  promptVersion?: number | undefined;
  /** Prompts whose name begins with this and a `/`. */
  group?: string | undefined;
  /** UUID of the release that chose the version of one of its executions. */
  release?: string | undefined;
  /** The arm of that execution. */
  arm?: Arm | undefined;
  settled?: boolean | undefined;
  minErrors?: number | undefined;
  model?: string | undefined;
  tool?: string | undefined;
  agent?: string | undefined;
  tag?: string | undefined;
  service?: string | undefined;
  environment?: string | undefined;
  minSteps?: number | undefined;
  /** US dollars, decimal; neither matches an unknown cost. */
  minCost?: string | undefined;
  maxCost?: string | undefined;
  /** Milliseconds; neither matches a trace that has not ended. */
  minLatencyMs?: number | undefined;
  maxLatencyMs?: number | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  /** All must hold, each for any score of that name of the trace or one of its steps. */
  score?: readonly ScoreCondition[] | undefined;
  /** Words and phrases that must all occur in the beginnings of its texts, ignoring case. */
  terms?: readonly string[] | undefined;
  /** Only the last trace of each conversation. */
  lastOfConversation?: boolean | undefined;
}

/** The end of a page. */
export interface TracePosition {
  startedAt: Date;
  id: string;
}

export const positionOf = (row: TraceRow | undefined): TracePosition | undefined =>
  row && { startedAt: row.started_at, id: row.id };

/** Maximum number of traces that a page examines for a condition without an index. */
export const EXAMINED_TRACES = 5_000;

/** Bytes of a trace in a page. */
export const TRACE_BYTES = sql<number>`coalesce(octet_length(${sql.ref('input')}), 0) + coalesce(octet_length(${sql.ref('output')}), 0) + 2048`;

/** Conditions with an index. */
const INDEXED = new Set(['name', 'conversationId', 'userId', 'since', 'until']);

/** Whether a condition has no index. */
const isUnindexed = (filter: TraceFilter): boolean =>
  Object.entries(filter).some(([name, value]) => value !== undefined && !INDEXED.has(name));

type Traces = ExpressionBuilder<Tables, 'traces'>;

const indexedConditions = (eb: Traces, { name, conversationId, userId, since, until }: TraceFilter) => [
  ...given(name, (value) => eb('traces.name', '=', value)),
  ...given(conversationId, (value) => eb('traces.conversation_id', '=', value)),
  ...given(userId, (value) => eb('traces.user_id', '=', value)),
  ...given(since, (value) => eb('traces.started_at', '>=', value)),
  ...given(until, (value) => eb('traces.started_at', '<', value)),
];

const column = (name: keyof Tables['traces']) => sql.ref(`traces.${name}`);
const has = (name: 'models' | 'tools' | 'agents' | 'tags', value: string) =>
  sql<SqlBool>`${value} = any(${column(name)})`;
export const DURATION_MS = sql<number>`extract(epoch from ${column('ended_at')} - ${column('started_at')}) * 1000`;
const inJson = (name: 'prompts' | 'metadata', value: unknown) =>
  sql<SqlBool>`${column(name)} @> ${JSON.stringify(value)}::jsonb`;

/** Whether an execution of the trace got its version from a release, or an arm of it. */
const isOfRelease = (eb: Traces, { release, arm }: TraceFilter) =>
  eb.exists(
    eb
      .selectFrom('executions as e')
      .select('e.id')
      .whereRef('e.trace_id', '=', 'traces.id')
      .where((of) =>
        of.and([
          ...given(release, (id) => of('e.release_id', '=', id)),
          ...given(arm, (value) => of('e.release_arm', '=', value)),
        ]),
      ),
  );

export function traceConditions(eb: Traces, filter: TraceFilter): Expression<SqlBool>[] {
  return [
    ...indexedConditions(eb, filter),
    ...given(filter.status, (value) => eb('traces.status', '=', value)),
    ...given(filter.promptName, (name) =>
      inJson('prompts', [{ name, ...(filter.promptVersion !== undefined && { version: filter.promptVersion }) }]),
    ),
    ...given(
      filter.group,
      (group) =>
        sql<SqlBool>`jsonb_path_exists(${column('prompts')}, '$[*].name ? (@ starts with $group)', jsonb_build_object('group', ${`${group}/`}::text))`,
    ),
    ...(filter.release === undefined && filter.arm === undefined ? [] : [isOfRelease(eb, filter)]),
    ...given(filter.settled, (value) => eb('traces.settle_at', value ? 'is' : 'is not', null)),
    ...given(filter.minErrors, (value) => eb('traces.errors', '>=', value)),
    ...given(filter.model, (value) => has('models', value)),
    ...given(filter.tool, (value) => has('tools', value)),
    ...given(filter.agent, (value) => has('agents', value)),
    ...given(filter.tag, (value) => has('tags', value)),
    ...given(filter.service, (value) => eb('traces.service', '=', value)),
    ...given(filter.environment, (value) => eb('traces.environment', '=', value)),
    ...given(filter.minSteps, (value) => eb('traces.steps', '>=', value)),
    ...given(filter.minCost, (value) => eb('traces.cost_amount', '>=', value)),
    ...given(filter.maxCost, (value) => eb('traces.cost_amount', '<=', value)),
    ...given(filter.minLatencyMs, (value) => sql<SqlBool>`${DURATION_MS} >= ${value}`),
    ...given(filter.maxLatencyMs, (value) => sql<SqlBool>`${DURATION_MS} <= ${value}`),
    ...given(filter.metadata, (value) => inJson('metadata', value)),
    ...(filter.score ?? []).map((condition) =>
      eb.exists(
        eb
          .selectFrom('scores as s')
          .select('s.id')
          .whereRef('s.trace_id', '=', 'traces.id')
          .where('s.name', '=', condition.name)
          .where(fitsScore(condition)),
      ),
    ),
    ...(filter.terms ?? []).map((term) => {
      const pattern = containing(term);
      return eb.or([
        eb('traces.name', 'ilike', pattern),
        eb('traces.input', 'ilike', pattern),
        eb('traces.output', 'ilike', pattern),
      ]);
    }),
    ...(filter.lastOfConversation
      ? [
          eb('traces.conversation_id', 'is not', null),
          eb.not(
            eb.exists(
              eb
                .selectFrom('traces as later')
                .select('later.id')
                .whereRef('later.conversation_id', '=', 'traces.conversation_id')
                .where(
                  sql<SqlBool>`(${sql.ref('later.started_at')}, ${sql.ref('later.id')}) > (${column('started_at')}, ${column('id')})`,
                ),
            ),
          ),
        ]
      : []),
  ];
}

export const behind = ({ startedAt, id }: TracePosition, operator: '<' | '<=' | '>=' | '>') =>
  sql<SqlBool>`(${column('started_at')}, ${column('id')}) ${sql.raw(operator)} (${startedAt}::timestamptz, ${id}::uuid)`;

/** The last trace that a page examines. Undefined if it examines all that are left. */
export async function lastExamined(query: Query, filter: TraceFilter, after?: TracePosition) {
  if (!isUnindexed(filter)) return undefined;
  const [last] = await query((db) =>
    db
      .selectFrom('traces')
      .select(['started_at as startedAt', 'id'])
      .where((eb) => eb.and([...indexedConditions(eb, filter), ...given(after, (position) => behind(position, '<'))]))
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
      .offset(EXAMINED_TRACES - 1)
      .limit(1),
  );
  return last;
}

/** The matching traces, newest first. @param last from {@link lastExamined} */
export const newestMatching = (db: Builder, filter: TraceFilter, last: TracePosition | undefined) =>
  db
    .selectFrom('traces')
    .where((eb) => eb.and([...traceConditions(eb, filter), ...given(last, (position) => behind(position, '>='))]))
    .orderBy('traces.started_at', 'desc')
    .orderBy('traces.id', 'desc');

/**
 * Traces, newest first. For a condition without an index, a page examines up to {@link EXAMINED_TRACES}: then it can hold fewer than there
 * are, or none.
 * @returns `next`: where the next page starts. Undefined if there is none
 */
export async function listTraces(
  db: WorkspaceDatabase,
  filter: TraceFilter,
  limit: number,
  after: TracePosition | undefined,
): Promise<{ rows: TraceRow[]; next: TracePosition | undefined }> {
  const query = isUnindexed(filter) ? db.heavy.query : db.query;
  const last = await lastExamined(query, filter, after);
  const { rows, more } = await pageOfTraces(
    query,
    (eb) => [
      ...traceConditions(eb, filter),
      ...given(after, (position) => behind(position, '<')),
      ...given(last, (position) => behind(position, '>=')),
    ],
    limit,
  );
  return { rows, next: more ? positionOf(rows.at(-1)) : last };
}

/** A page of the traces that match conditions, newest first by default. */
export const pageOfTraces = (
  query: Query,
  conditions: (eb: Traces) => Expression<SqlBool>[],
  limit: number,
  direction: 'asc' | 'desc' = 'desc',
): Promise<Page<TraceRow>> =>
  selectPage(
    query,
    {
      select: (own) =>
        own
          .selectFrom('traces')
          .select(TRACE_COLUMNS)
          .where((eb) => eb.and(conditions(eb))),
      orderBy: [
        ['started_at', direction],
        ['id', direction],
      ],
      bytes: () => TRACE_BYTES,
    },
    limit,
  );

/** The traces of a conversation, oldest first. */
export async function listTurns(
  db: WorkspaceDatabase,
  conversationId: string,
  limit: number,
  after: TracePosition | undefined,
): Promise<{ rows: TraceRow[]; next: TracePosition | undefined }> {
  const { rows, more } = await pageOfTraces(
    db.query,
    (eb) => [...indexedConditions(eb, { conversationId }), ...given(after, (position) => behind(position, '>'))],
    limit,
    'asc',
  );
  return { rows, next: more ? positionOf(rows.at(-1)) : undefined };
}

/** Sums up the traces of conversations. */
export async function sumUpConversations(query: Query, ids: readonly string[]) {
  return query((db) =>
    db
      .selectFrom('traces')
      .where(sql<SqlBool>`conversation_id = any(${ids}::text[])`)
      .groupBy('conversation_id')
      .select([
        sql<string>`conversation_id`.as('id'),
        sql<number>`count(*)`.as('traces'),
        sql<Date>`min(started_at)`.as('started_at'),
        sql<Date>`max(coalesce(ended_at, started_at))`.as('last_at'),
        sql<string | null>`(array_agg(user_id order by started_at) filter (where user_id is not null))[1]`.as(
          'user_id',
        ),
        sql<number>`sum(errors)::bigint`.as('errors'),
        sql<number>`sum(calls)::bigint`.as('calls'),
        sql<number>`sum(tokens_input)::bigint`.as('tokens_input'),
        sql<number>`sum(tokens_output)::bigint`.as('tokens_output'),
        sql<number>`sum(tokens_cached_input)::bigint`.as('tokens_cached_input'),
        sql<number>`sum(tokens_reasoning)::bigint`.as('tokens_reasoning'),
        sql<string | null>`trim_scale(sum(cost_amount))`.as('cost_amount'),
        sql<number>`sum(unpriced_calls)::bigint`.as('unpriced_calls'),
      ]),
  );
}
export type ConversationRow = Awaited<ReturnType<typeof sumUpConversations>>[number];
