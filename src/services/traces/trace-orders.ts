import { type Expression, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { selectPage } from '../../db/read-page.ts';
import { isBehind, readSort, type Sort } from '../../db/sort.ts';
import { given } from '../../db/sql.ts';
import {
  behind,
  DURATION_MS,
  lastExamined,
  newestMatching,
  positionOf,
  TRACE_BYTES,
  TRACE_COLUMNS,
  type TraceFilter,
  type TracePosition,
  type TraceRow,
  traceConditions,
} from './traces.ts';

/** Maximum number of traces that are sorted or counted: the newest. */
export const SORTED_TRACES = 10_000;

export const TRACE_SORTS = ['cost', 'latency', 'tokens', 'steps'] as const;
type SortName = (typeof TRACE_SORTS)[number];
/** With a minus, the greatest come first. Missing values are the least. */
export type TraceSort = Sort<SortName>;

/** The end of a page, and the newest and oldest of the sorted traces: later ones stay out. */
export interface SortedTracePosition extends TracePosition {
  value: number;
  newest: TracePosition;
  oldest: TracePosition;
}

const VALUES: Record<SortName, Expression<number | null>> = {
  cost: sql`${sql.ref('traces.cost_amount')}::float8`,
  latency: sql`(${DURATION_MS})::float8`,
  tokens: sql`(${sql.ref('traces.tokens_input')} + ${sql.ref('traces.tokens_output')})::float8`,
  steps: sql`${sql.ref('traces.steps')}::float8`,
};

/** The newest and oldest of the {@link SORTED_TRACES} newest matching traces. Undefined if none match. */
async function spanOf(query: Query, filter: TraceFilter) {
  const last = await lastExamined(query, filter);
  const [span] = await query((db) =>
    db
      .with('newest', () =>
        newestMatching(db, filter, last).select(['traces.started_at', 'traces.id']).limit(SORTED_TRACES),
      )
      .selectFrom((eb) =>
        eb.selectFrom('newest').selectAll().orderBy('started_at', 'desc').orderBy('id', 'desc').limit(1).as('first'),
      )
      .innerJoin(
        (eb) => eb.selectFrom('newest').selectAll().orderBy('started_at').orderBy('id').limit(1).as('last'),
        (join) => join.onTrue(),
      )
      .select(['first.started_at', 'first.id', 'last.started_at as oldest_at', 'last.id as oldest_id']),
  );
  return (
    span && {
      newest: { startedAt: span.started_at, id: span.id },
      oldest: { startedAt: span.oldest_at, id: span.oldest_id },
    }
  );
}

/**
 * A page of the newest {@link SORTED_TRACES} matching traces, in an order without an index.
 * @returns `next`: where the next page starts. Undefined if there is none
 */
export async function listSortedTraces(
  db: WorkspaceDatabase,
  filter: TraceFilter,
  sort: TraceSort,
  limit: number,
  after: SortedTracePosition | undefined,
): Promise<{ rows: TraceRow[]; next: SortedTracePosition | undefined }> {
  const { query } = db.heavy;
  const span = after ?? (await spanOf(query, filter));
  if (span === undefined) return { rows: [], next: undefined };
  const { by, direction } = readSort(sort);
  const value = sql<number>`coalesce(${VALUES[by]}, -1)`;
  const { rows, more } = await selectPage(
    query,
    {
      select: (own) =>
        own
          .selectFrom('traces')
          .select([...TRACE_COLUMNS, value.as('sort_value')])
          .where((eb) =>
            eb.and([
              ...traceConditions(eb, filter),
              behind(span.newest, '<='),
              behind(span.oldest, '>='),
              ...given(after, (last) => isBehind(value, direction, last.value, behind(last, '<'))),
            ]),
          ),
      orderBy: [
        ['sort_value', direction],
        ['started_at', 'desc'],
        ['id', 'desc'],
      ],
      bytes: () => TRACE_BYTES,
    },
    limit,
  );
  const last = more ? rows.at(-1) : undefined;
  const at = positionOf(last);
  const next = last && at && { ...at, value: last.sort_value, newest: span.newest, oldest: span.oldest };
  return { rows, next };
}

/** The facets, with their columns. */
const FACETS = {
  status: 'status',
  name: 'name',
  service: 'service',
  environment: 'environment',
  user_id: 'user_id',
  model: 'models',
  tool: 'tools',
  agent: 'agents',
  tag: 'tags',
} as const;
export type TraceFacet = keyof typeof FACETS;
export const TRACE_FACETS = Object.keys(FACETS) as TraceFacet[];
/** Facets with several values per trace. */
const LISTS: ReadonlySet<TraceFacet> = new Set(['model', 'tool', 'agent', 'tag']);
/** Maximum number of values per facet: those with the most traces. */
export const MAX_TRACE_FACET_VALUES = 20;

export interface TraceFacetCounts {
  facets: Record<TraceFacet, { value: string; count: number }[]>;
  /** The number of counted traces: the newest. */
  counted: number;
  /** Whether these are all matching traces. */
  complete: boolean;
}

/** Counts the newest {@link SORTED_TRACES} matching traces by facet. */
export async function countTraces(db: WorkspaceDatabase, filter: TraceFilter): Promise<TraceFacetCounts> {
  const { query } = db.heavy;
  const last = await lastExamined(query, filter);
  const rows = await query((own) => {
    const found = newestMatching(own, filter, last)
      .select(Object.values(FACETS))
      .limit(SORTED_TRACES + 1);
    const [first = 'status', ...others] = TRACE_FACETS;
    return own
      .with('found', () => found)
      .with('counted', (cte) => cte.selectFrom('found').selectAll().limit(SORTED_TRACES))
      .with('named', (cte) => {
        const values = (facet: TraceFacet) => {
          const column = sql.ref(`counted.${FACETS[facet]}`);
          const value = LISTS.has(facet) ? sql<string | null>`unnest(${column})` : sql<string | null>`${column}`;
          return cte
            .selectFrom('counted')
            .select([sql<TraceFacet | null>`${sql.lit(facet)}`.as('facet'), value.as('value')]);
        };
        return others.reduce((all, facet) => all.unionAll(values(facet)), values(first));
      })
      .with('ranked', (cte) =>
        cte
          .selectFrom('named')
          .where('named.value', 'is not', null)
          .groupBy(['named.facet', 'named.value'])
          .select(['named.facet', 'named.value'])
          .select(sql<number>`count(*)::int`.as('count'))
          .select(
            sql<number>`row_number() over (partition by ${sql.ref('named.facet')} order by count(*) desc, ${sql.ref('named.value')})`.as(
              'place',
            ),
          ),
      )
      .with('all', (cte) =>
        cte
          .selectFrom('ranked')
          .select(['ranked.facet', 'ranked.value', 'ranked.count'])
          .where('ranked.place', '<=', MAX_TRACE_FACET_VALUES)
          .unionAll(
            cte
              .selectFrom('found')
              .select([
                sql<TraceFacet | null>`null`.as('facet'),
                sql<string | null>`null`.as('value'),
                sql<number>`count(*)::int`.as('count'),
              ]),
          ),
      )
      .selectFrom('all')
      .selectAll();
  });
  const found = rows.find(({ facet }) => facet === null)?.count ?? 0;
  const inOrder = rows.toSorted((a, b) => b.count - a.count || ((a.value ?? '') < (b.value ?? '') ? -1 : 1));
  const valuesOf = (name: TraceFacet) =>
    inOrder.flatMap(({ facet, value, count }) => (facet === name && value !== null ? [{ value, count }] : []));
  const facets = Object.fromEntries(TRACE_FACETS.map((name) => [name, valuesOf(name)])) as TraceFacetCounts['facets'];
  return {
    facets,
    counted: Math.min(found, SORTED_TRACES),
    complete: last === undefined && found <= SORTED_TRACES,
  };
}
