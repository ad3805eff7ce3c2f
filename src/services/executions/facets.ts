import { type ExpressionBuilder, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { causesOf } from '../../db/failure-causes.ts';
import type { Tables } from '../../db/tables.ts';
import { type FailureCauses, MAX_FAILURE_CAUSES } from '../../domain/failures.ts';
import { lastExamined, newestMatching } from './executions.ts';
import type { ExecutionSearch } from './filter.ts';

/** The fields that executions are counted by, under the names of the filter. */
export const FACETS = ['status', 'prompt_name', 'prompt_version', 'model', 'label', 'recorded', 'error_code'] as const;
export type Facet = (typeof FACETS)[number];

/** The maximum number of values per facet: those with the most executions. */
export const MAX_FACET_VALUES = 20;
/** The maximum number of executions counted: the newest. */
export const COUNTED_EXECUTIONS = 10_000;

export interface FacetCounts {
  facets: Record<Facet, { value: string; count: number }[]>;
  /** Why the counted executions failed. */
  failures: FailureCauses;
  /** The number of executions counted. */
  counted: number;
  /** Whether all matching executions were counted. Otherwise only the newest were. */
  complete: boolean;
}

const facetColumns = (eb: ExpressionBuilder<Tables, 'executions'>) => [
  eb.ref('executions.status').as('status'),
  eb.ref('executions.prompt_name').as('prompt_name'),
  sql<string | null>`${sql.ref('executions.prompt_version')}::text`.as('prompt_version'),
  eb.ref('executions.model').as('model'),
  eb.ref('executions.label').as('label'),
  sql<string>`${sql.ref('executions.recorded')}::text`.as('recorded'),
  sql<string | null>`${sql.ref('executions.error')} ->> 'code'`.as('error_code'),
  eb.ref('executions.error').as('error'),
];

const CAUSES = causesOf('counted.error');

/**
 * Counts executions by facet: the newest {@link COUNTED_EXECUTIONS} that match and, with an unindexed condition, only matches among
 * the newest {@link EXAMINED_EXECUTIONS}. An execution without a value counts in no value of that facet.
 */
export async function countFacets(db: WorkspaceDatabase, filter: ExecutionSearch): Promise<FacetCounts> {
  const { query } = db.heavy;
  const last = await lastExamined(query, filter);
  const columns = FACETS.map((name) => sql.ref(name));
  const rows = await query((own) =>
    own
      .with('found', () =>
        newestMatching(own, filter, last)
          .select(facetColumns)
          .limit(COUNTED_EXECUTIONS + 1),
      )
      .with('counted', (cte) => cte.selectFrom('found').selectAll().limit(COUNTED_EXECUTIONS))
      .with('grouped', (cte) =>
        cte
          .selectFrom('counted')
          .select([
            sql<number>`grouping(${sql.join(columns)})`.as('grouping'),
            sql<string | null>`coalesce(${sql.join(columns)})`.as('value'),
            sql<number>`count(*)::int`.as('count'),
          ])
          .groupBy(sql`grouping sets (${sql.join(columns.map((column) => sql`(${column})`))}, ())`),
      )
      .selectFrom((eb) =>
        eb
          .selectFrom('grouped')
          .select(['grouped.grouping', 'grouped.value', 'grouped.count'])
          .select(
            sql<number>`row_number() over (partition by ${sql.ref('grouped.grouping')} order by ${sql.ref('grouped.count')} desc, ${sql.ref('grouped.value')})`.as(
              'place',
            ),
          )
          .where((of) => of.or([of('grouped.value', 'is not', null), of('grouped.grouping', '=', ALL)]))
          .as('ranked'),
      )
      .select(['ranked.grouping', 'ranked.value', 'ranked.count'])
      .select((eb) =>
        eb
          .selectFrom('found')
          .select((of) => of.fn.countAll<number>().as('found'))
          .as('found'),
      )
      .select((eb) =>
        jsonArrayFrom(
          eb
            .selectFrom('counted')
            .select(CAUSES.columns)
            .where('counted.error', 'is not', null)
            .groupBy(CAUSES.groups)
            .orderBy('count', 'desc')
            .orderBy('code')
            .orderBy('message')
            .limit(MAX_FAILURE_CAUSES),
        ).as('failures'),
      )
      .where('ranked.place', '<=', MAX_FACET_VALUES)
      .orderBy('ranked.place'),
  );
  const valuesOf = (facet: Facet) =>
    rows.flatMap(({ grouping, value, count }) =>
      value !== null && grouping === groupingOf(facet) ? [{ value, count }] : [],
    );
  const counted = rows.find(({ grouping }) => grouping === ALL)?.count ?? 0;
  return {
    facets: {
      status: valuesOf('status'),
      prompt_name: valuesOf('prompt_name'),
      prompt_version: valuesOf('prompt_version'),
      model: valuesOf('model'),
      label: valuesOf('label'),
      recorded: valuesOf('recorded'),
      error_code: valuesOf('error_code'),
    },
    failures: rows[0]?.failures ?? [],
    counted,
    complete: last === undefined && (rows[0]?.found ?? 0) <= COUNTED_EXECUTIONS,
  };
}

/** The result of PostgreSQL's `grouping` for the total, which is grouped by no column. */
const ALL = 2 ** FACETS.length - 1;
/** The result of `grouping` for one facet: the bit of the grouped column is 0, and the first column is the highest bit. */
const groupingOf = (facet: Facet) => ALL - 2 ** (FACETS.length - 1 - FACETS.indexOf(facet));
